import type { Pieces, RequestCopy, ResponseCopy, SentReport } from "../exchange.ts";
import type { Crossing } from "./bodies-sent.ts";

/** What the relay hands over: copies of requests and answers, and what was sent in place of a request. */
export type Handed =
  | {
      readonly type: "requested";
      readonly copy: RequestCopy<Pieces>;
      /** The body, where it is told in terms of the one before. */
      readonly crossing: Crossing | null;
    }
  | { readonly type: "resent"; readonly request: string; readonly sent: SentReport | null }
  | { readonly type: "answered"; readonly copy: ResponseCopy<Pieces> };

/** What a copy costs besides its bytes. */
export const COPY_BYTES = 2_048;

/** What lies in shared memory lies in the ledger's anyway. */
export function handedBytes(handed: Handed): number {
  const body = handed.type === "resent" ? null : handed.copy.body;
  return COPY_BYTES + bytesIn(body ?? []) + bytesIn(freshPieces(handed).filter((piece) => !isShared(piece)));
}

/** The bytes with memory of their own: another thread would be sent the whole of what they share. */
export function ownedBy<H extends Handed>(handed: H): H {
  switch (handed.type) {
    case "requested": {
      const { copy } = handed;
      const body = copy.body === null ? null : ownPieces(copy.body);
      return { ...handed, copy: { ...copy, body, sent: ownSent(copy.sent) } };
    }
    case "resent":
      return { ...handed, sent: ownSent(handed.sent) };
    case "answered": {
      const { copy } = handed;
      return { ...handed, copy: { ...copy, body: copy.body === null ? null : ownPieces(copy.body) } };
    }
  }
}

/** Without any bytes, where they do not fit any more: that it happened is still worth a line. */
export function lightened<H extends Handed>(handed: H): H {
  const light = (sent: SentReport | null): SentReport | null =>
    sent === null ? null : { ...sent, fresh: [], body: [] };
  switch (handed.type) {
    case "requested":
      return { ...handed, copy: { ...handed.copy, body: null, sent: light(handed.copy.sent) } };
    case "resent":
      return { ...handed, sent: light(handed.sent) };
    case "answered":
      return { ...handed, copy: { ...handed.copy, body: null } };
  }
}

/** Smaller pieces cost less to copy than to move. */
const TRANSFER_BYTES_MIN = 16_384;

/**
 * Whoever gave a body has no use for it any more. Shared memory stays where it is, and so does what was sent:
 * the ledger goes on with it.
 */
export function transferable(handed: Handed): readonly ArrayBuffer[] {
  const body = handed.type === "resent" ? [] : (handed.copy.body ?? []);
  const crossing = handed.type === "requested" && handed.crossing !== null ? [handed.crossing.rest] : [];
  return [...body, ...crossing].flatMap(({ buffer }) =>
    buffer instanceof ArrayBuffer && buffer.byteLength >= TRANSFER_BYTES_MIN ? [buffer] : [],
  );
}

function freshPieces(handed: Handed): Pieces {
  if (handed.type === "answered") return [];
  const sent = handed.type === "requested" ? handed.copy.sent : handed.sent;
  return sent?.fresh.map(({ bytes }) => bytes) ?? [];
}

function ownSent(sent: SentReport | null): SentReport | null {
  if (sent === null) return null;
  const fresh = sent.fresh.map((unit) => ({ ...unit, bytes: ownPiece(unit.bytes) }));
  return { ...sent, fresh, body: ownPieces(sent.body) };
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
