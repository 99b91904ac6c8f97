import type { ManifestFacts } from "../awareness/index.ts";
import type { Json } from "../base/index.ts";
import type { Mode, Shown } from "../engine/frames/index.ts";
import type { Offer, ShownMemory } from "../notes/index.ts";
import type { TextFingerprint } from "./text-fingerprint.ts";

/** The log's wishes for the next request of a stream, sent after each answer so that planning never waits. */
export type Wishes = {
  readonly streamKey: string;
  readonly seq: number;
  /** The last turn that the log has recorded. */
  readonly turn: number;
  readonly facts: ManifestFacts;
  /** Tokens by the provider's count for each token of ours. */
  readonly tokenRate: number;
  /** Names for the next header. */
  readonly headerNames: readonly string[];
  /** Cold blocks that the user's last message seems to need. Absent if none were searched for. */
  readonly offers?: readonly Offer[];
  /** Levels that changed since the last wishes; all of them if these are the first. */
  readonly levels: readonly LevelWish[];
  /** Set once if the user wants those levels applied now, whatever it costs. */
  readonly isUrgent?: true;
  /** Blocks that must not be shown shorter, even under pressure. */
  readonly held: readonly number[];
  /** The mode the user set for the session. Null: the configured one. */
  readonly mode?: Mode | null;
  /** Its memories in the order they were made. Absent if there are none. */
  readonly memories?: readonly ShownMemory[];
  /** The keys of withheld units. Absent if they are the same as in the last wishes. */
  readonly withheld?: readonly string[];
};

/** The estimated size of a placeholder. */
export const placeholderTokens = 40;

/** The level a block is to have from the next rewrite on. */
export type LevelWish = {
  readonly block: number;
  readonly as: Shown;
  /** The text to show, or for a call the input. Both null: there is nothing shorter to show. */
  readonly text: string | null;
  readonly input: { readonly [key: string]: Json } | null;
  /** The estimated size of that text or input. */
  readonly tokens: number;
  readonly reason: string;
};

/** A unit that must not be sent, with a fingerprint that finds its text where it is joined to other texts. */
export type WithheldUnit = { readonly key: string; readonly print: TextFingerprint | null };

/** The withheld units of a session, for readers that cannot ask the log. */
export type WithheldSession = {
  readonly session: string;
  readonly owner: string;
  readonly upstream: string;
  readonly client: string;
  /** The client's name for the session. Null if it gives none. */
  readonly name: string | null;
  readonly units: readonly WithheldUnit[];
};
