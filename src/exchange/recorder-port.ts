import type { Pieces } from "./decode-body.ts";
import type { RequestCopy, ResponseCopy } from "./exchange-copies.ts";
import type { SentRequest } from "./sent-request.ts";

/**
 * The bytes that a body shares with the previous body of its stream. The planner keeps using a body it has
 * read, so the recorder gets a copy, and only of the bytes that are not shared.
 */
export type BodyOverlap = {
  /** The stream whose bodies follow one another. Null if the body stands alone. */
  readonly streamKey: string | null;
  /** The id of the previous request of the stream. */
  readonly baseRequest: string | null;
  /** The number of bytes from the start that both bodies share. */
  readonly sharedBytes: number;
  /** The number of bytes before the end that both bodies share. */
  readonly sharedEndBytes: number;
};

/** The overlap of a body that the planner keeps using and that shares nothing. */
export const noOverlap: BodyOverlap = {
  streamKey: null,
  baseRequest: null,
  sharedBytes: 0,
  sharedEndBytes: 0,
};

/**
 * Takes the relay's copies. No call waits, throws or changes what the client gets. The recorder takes over
 * the bytes, and the caller must not use them afterwards, with two exceptions: bytes in shared memory, which
 * never change, and the body of a request with an overlap, which is copied before the call returns.
 */
export type RecorderPort = {
  readonly recordRequest: (copy: RequestCopy<Pieces>, overlap: BodyOverlap | null) => void;
  /** Another body was sent for the request: the first was refused, or its answer continues in a round. */
  readonly recordResend: (id: string, sent: SentRequest | null) => void;
  readonly recordResponse: (copy: ResponseCopy<Pieces>) => void;
  /** Whether there is room for bodies. Absent: there always is. */
  readonly hasRoomForBodies?: () => boolean;
};
