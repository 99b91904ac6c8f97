import { crc32 } from "node:zlib";

export type SqlValue = number | string | Uint8Array | null;

/**
 * A checksum over the columns of a row, kept in the row. Hashes protect the content of frames, contents and
 * bodies; this finds a changed bit in everything else: lengths, links, the unused bits of deflated bytes.
 */
export function rowSum(values: readonly SqlValue[]): number {
  let sum = 0;
  // Values between byte columns are summed in one call: a call costs more than summing a few characters.
  let text = "";
  for (const value of values) {
    text += describeValue(value);
    // Empty byte arrays are skipped: zlib may return 0 for them and drop the sum so far.
    if (!(value instanceof Uint8Array) || value.length === 0) continue;
    sum = crc32(value, crc32(text, sum));
    text = "";
  }
  return text === "" ? sum : crc32(text, sum);
}

function describeValue(value: SqlValue): string {
  if (value === null) return "n;";
  if (value instanceof Uint8Array) return `b${value.length}:`;
  return typeof value === "number" ? `i${value};` : `t${value.length}:${value}`;
}
