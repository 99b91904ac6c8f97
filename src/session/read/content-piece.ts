import { isUtf8 } from "node:buffer";
import { assert, limits } from "../../base/index.ts";
import type { ContentPiece } from "./rows.ts";

/** What a reader gets without asking for more: enough for a page, small enough for any screen. */
export const pieceBytesUsual = 64 * 1024;

export type PieceRange = { readonly from: number; readonly length: number };

/** Whoever goes on reading at `from + length` misses nothing, wherever the cuts had to be moved to. */
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

/** A whole character at least, or reading on would never end. */
function textEnd(bytes: Uint8Array, from: number, wanted: number): number {
  const end = characterStart(bytes, wanted);
  if (end > from || wanted <= from) return Math.max(end, from);
  let next = from + 1;
  while (next < bytes.length && isContinuation(bytes[next])) next += 1;
  return next;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
