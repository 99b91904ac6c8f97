import type { WireAnswer } from "../wire.ts";
import type { OwnTool } from "./answer-rounds.ts";
import type { OwnLineRules } from "./strip-lines.ts";

/**
 * Reads an answer of the upstream once, as its bytes come. It yields the bytes for the client, without our
 * lines, calls of our tools and command lines, and the answer itself for planner and recorder. Several rounds
 * become one answer of the client.
 */
export type Interceptor = {
  /** Takes bytes cut anywhere; returns the bytes that the client gets by now. */
  readonly push: (bytes: Uint8Array) => readonly Uint8Array[];
  /** The last event of the round has come; the end of its body may still be missing. */
  readonly hasStopped: () => boolean;
  /** The answer of this round as far as it has come; null if it is too large to be read. */
  readonly answer: () => WireAnswer | null;
  /** The round has ended; returns the bytes of a line that was not decided. */
  readonly endRound: () => readonly Uint8Array[];
  /** The round that ended has only commands for us, and waits for their results. */
  readonly isWaitingForUs: () => boolean;
  /** The content that the client has got so far is an answer by itself. */
  readonly mayEndHere: () => boolean;
  /** Begins another round, which continues the same message. */
  readonly beginRound: () => void;
  /** Ends the client's answer; returns the bytes that were held. */
  readonly end: () => readonly Uint8Array[];
};

export type InterceptOptions = {
  /** Recognises our lines; null if the model was told none. */
  readonly ownLines: OwnLineRules | null;
  /** Recognises our tools; null if the model has none of them. */
  readonly isOwnTool: OwnTool | null;
  /** Marks command lines; null if the model knows of none. */
  readonly commandNonce: string | null;
  /** A longer answer passes without being read, and a longer message without being changed. */
  readonly bytesMax: number;
};
