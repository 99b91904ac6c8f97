import { crc32 } from "node:zlib";

export type SqlValue = number | string | Uint8Array | null;

/**
 * A checksum over the columns of a row, kept in the row. Hashes protect what frames, contents and bodies
 * say; this finds a changed bit in everything else: lengths, links, the unused bits of deflated bytes.
 */
export function rowSum(values: readonly SqlValue[]): number {
  let sum = 0;
  // What stands between bytes is summed at once: a call costs more than what it sums.
  let text = "";
  for (const value of values) {
    text += describeValue(value);
    // Of no bytes at all zlib may make 0 and forget what came before: it depends on where they are not.
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
