import { isUtf8 } from "node:buffer";
import { assert, limits } from "../base/index.ts";
import type { ContentPiece } from "./answers/block-answers.ts";

/** The default size of a piece: enough for a page, small enough for any screen. */
export const pieceBytesDefault = 64 * 1024;

export type PieceRange = { readonly from: number; readonly length: number };

/** Reading on at `from + length` misses nothing, even though cuts are moved to character boundaries. */
export function contentPiece(bytes: Uint8Array, range: PieceRange): ContentPiece {
  const isText = isUtf8(bytes);
  const wantedFrom = Math.min(range.from, bytes.length);
  const from = isText ? characterStart(bytes, wantedFrom) : wantedFrom;
  const wantedTo = Math.min(from + Math.min(range.length, limits.pieceBytesMax), bytes.length);
  const to = isText ? textEnd(bytes, from, wantedTo) : wantedTo;
  assert(from <= to && to <= bytes.length, "a piece lies inside its content");
  const encoding = isText ? "utf-8" : "base64";
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString(encoding);
  return { text, encoding, from, length: to - from, total: bytes.length };
}

function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && isContinuation(bytes[start])) start -= 1;
  return start;
}

/** Returns at least one whole character, or reading on would never end. */
function textEnd(bytes: Uint8Array, from: number, wantedEnd: number): number {
  const end = characterStart(bytes, wantedEnd);
  if (end > from || wantedEnd <= from) return Math.max(end, from);
  let next = from + 1;
  while (next < bytes.length && isContinuation(bytes[next])) next += 1;
  return next;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
