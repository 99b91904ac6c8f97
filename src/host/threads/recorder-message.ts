import type { Pieces, RequestCopy, ResponseCopy, SentRequest } from "../../exchange/index.ts";
import type { WireAnswer } from "../../protocols/index.ts";
import type { BodyPatch } from "./body-patch.ts";

/**
 * A message of the relay to the recorder's thread: a copy of a request or response, or what was sent instead.
 */
export type RecorderMessage =
  | {
      readonly type: "requested";
      readonly copy: RequestCopy<Pieces>;
      /** The body as a patch of the body before; null if the copy holds it whole. */
      readonly patch: BodyPatch | null;
    }
  | { readonly type: "resent"; readonly request: string; readonly sent: SentRequest | null }
  | { readonly type: "answered"; readonly copy: ResponseCopy<Pieces> };

/** The cost of a message besides its bytes. */
export const COPY_BYTES = 2_048;

/** Bytes in shared memory do not count: the ledger holds them anyway. */
export function messageBytes(message: RecorderMessage): number {
  const body = message.type === "resent" ? null : message.copy.body;
  return COPY_BYTES + bytesIn(body ?? []) + bytesIn(unitPieces(message).filter((piece) => !isShared(piece)));
}

/** Gives every piece memory of its own: `postMessage` would send the whole buffer that a piece is part of. */
export function withOwnMemory<H extends RecorderMessage>(message: H): H {
  switch (message.type) {
    case "requested": {
      const { copy } = message;
      const body = copy.body === null ? null : ownPieces(copy.body);
      return { ...message, copy: { ...copy, body, sent: ownSent(copy.sent) } };
    }
    case "resent":
      return { ...message, sent: ownSent(message.sent) };
    case "answered": {
      const { copy } = message;
      const body = copy.body === null ? null : ownPieces(copy.body);
      return { ...message, copy: { ...copy, body, answer: ownAnswer(copy.answer) } };
    }
  }
}

/** Removes the bytes, if the queue has no room for them; the exchange itself is still recorded. */
export function withoutBodies<H extends RecorderMessage>(message: H): H {
  const withoutBytes = (sent: SentRequest | null): SentRequest | null =>
    sent === null ? null : { ...sent, fresh: [], body: [] };
  switch (message.type) {
    case "requested":
      return { ...message, copy: { ...message.copy, body: null, sent: withoutBytes(message.copy.sent) } };
    case "resent":
      return { ...message, sent: withoutBytes(message.sent) };
    case "answered":
      return { ...message, copy: { ...message.copy, body: null, answer: null } };
  }
}

/** Smaller pieces cost less to copy than to move. */
const TRANSFER_BYTES_MIN = 16_384;

/**
 * The buffers to move instead of copy: the relay does not use a body after handing it over. Shared memory is
 * not moved, and neither are the sent units: the ledger still uses them.
 */
export function transferList(message: RecorderMessage): readonly ArrayBuffer[] {
  const body = message.type === "resent" ? [] : (message.copy.body ?? []);
  const patched = message.type === "requested" && message.patch !== null ? [message.patch.rest] : [];
  return [...body, ...patched].flatMap(({ buffer }) =>
    buffer instanceof ArrayBuffer && buffer.byteLength >= TRANSFER_BYTES_MIN ? [buffer] : [],
  );
}

function unitPieces(message: RecorderMessage): Pieces {
  if (message.type === "answered") return message.copy.answer?.units.map(({ bytes }) => bytes) ?? [];
  const sent = message.type === "requested" ? message.copy.sent : message.sent;
  return sent?.fresh.map(({ bytes }) => bytes) ?? [];
}

function ownSent(sent: SentRequest | null): SentRequest | null {
  if (sent === null) return null;
  const fresh = sent.fresh.map((unit) => ({ ...unit, bytes: ownPiece(unit.bytes) }));
  return { ...sent, fresh, body: ownPieces(sent.body) };
}

function ownAnswer(answer: WireAnswer | null): WireAnswer | null {
  if (answer === null) return null;
  return { ...answer, units: answer.units.map((one) => ({ ...one, bytes: ownPiece(one.bytes) })) };
}

function ownPieces(body: Pieces): Pieces {
  return body.map(ownPiece);
}

function isShared({ buffer }: Uint8Array): boolean {
  return buffer instanceof SharedArrayBuffer;
}

function ownPiece(piece: Uint8Array): Uint8Array {
  return isShared(piece) || piece.byteLength === piece.buffer.byteLength ? piece : new Uint8Array(piece);
}

function bytesIn(pieces: Pieces): number {
  return pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
