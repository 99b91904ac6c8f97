import type { Line } from "./line.ts";
import type { Place } from "./place.ts";
import type { Read } from "./read-request.ts";
import type { SentPath } from "./rendering.ts";

/** What a sending belongs to, and where its answer will hang; null: nowhere. */
export type Ticket = {
  readonly line: Line;
  readonly read: Read;
  readonly leaf: Place | null;
  readonly path: SentPath | null;
  /** How many results the provider was asked to leave out; null: it was not asked. */
  readonly cleared: number | null;
  /** How often it was gone on with. */
  readonly rounds: number;
  /** When the first round began; null: there was none. */
  readonly sinceMs: number | null;
  /** Tokens of what was answered before it was gone on with. */
  readonly spent: number;
  /** Set for the client's own words in place of what was refused: where they pass, ours were the reason. */
  readonly isTrial?: true;
};

/** Of a request that was sent as it came. */
export const unread = {
  path: null,
  cleared: null,
  rounds: 0,
  sinceMs: null,
  spent: 0,
} as const;
