import type { NextIds, Shown, UnitOrigin } from "../engine/frames/index.ts";
import type { KnownBlock } from "./numbered-block.ts";
import type { Wishes } from "./stream-wishes.ts";

/** Asks the log for a stream that the planner has forgotten. */
export type StreamLookup = {
  readonly type: "ledger";
  readonly owner: string;
  readonly upstream: string;
  readonly client: string;
  /** The client's name for its session. Null if it gives none: then the message keys identify it. */
  readonly sessionKey: string | null;
  readonly credential: string;
  readonly agent: string | null;
  /** The keys of the units of the client's messages. */
  readonly messageKeys: readonly string[];
};

/** The log's record of a stream. */
export type StreamRecord = {
  /** The session's generated name, if its client gives it none. */
  readonly generatedName: string | null;
  /** Whether any unit of ours was ever sent. */
  readonly wasManaged: boolean;
  /** Whether the stream exists. False if only its session does. */
  readonly isKnown: boolean;
  /** Its last turns, oldest first. */
  readonly turns: readonly TurnRecord[];
  /** The model it was last sent to. */
  readonly model: string | null;
  readonly lastTurn: number;
  /** Its blocks in order, each with the key of its unit. */
  readonly blocks: readonly (KnownBlock & { readonly key: string })[];
  /** Null if there is no such stream. */
  readonly wishes: Wishes | null;
  /** The next free ids of the session. */
  readonly nextIds: NextIds;
};

/** A turn as the log has it. */
export type TurnRecord = {
  /** The exact body that went upstream. */
  readonly body: Uint8Array;
  /** Its units in order: tools, system, messages. */
  readonly path: readonly UnitRecord[];
  readonly answer: { readonly body: Uint8Array; readonly contentType: string } | null;
  readonly turn: number;
};

/** A unit as it was sent. */
export type UnitRecord = {
  readonly origin: UnitOrigin;
  readonly key: string;
  readonly bytesHash: string;
  /** True if the provider was asked to leave it out. */
  readonly cleared?: true;
  /** The block it shows. The key alone is not enough: it may mean another block by now. */
  readonly block?: KnownBlock;
  /** The content it stands for, if its bytes differ from the client's. */
  readonly original?: {
    /** The hash of the content. */
    readonly content: string;
    readonly as: Shown;
    /** The content itself, if no body of the turns contains it. */
    readonly bytes?: Uint8Array;
  };
};
