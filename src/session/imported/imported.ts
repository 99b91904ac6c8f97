import type { SessionId } from "../../base/index.ts";

/** What became of a session. */
export type Imported = {
  readonly session: SessionId;
  readonly added: number;
  /** Requests that were there from an earlier import. */
  readonly known: number;
  /** Words that looked like credentials and are in no record. */
  readonly masked: number;
  /** Requests that could not be written down, and why the first of them could not. */
  readonly lost: number;
  readonly problem: string | null;
};
