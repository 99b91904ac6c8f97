import { crc32 } from "node:zlib";

export type SqlValue = number | string | Uint8Array | null;

/**
 * A checksum over the columns of a row, kept in the row. Hashes protect what frames, contents and bodies
 * say; this finds a changed bit in everything else: lengths, links, the unused bits of deflated bytes.
 */
export function rowSum(values: readonly SqlValue[]): number {
  let sum = 0;
  for (const value of values) {
    sum = crc32(describeValue(value), sum);
    // Of no bytes at all zlib may make 0 and forget what came before: it depends on where they are not.
    if (value instanceof Uint8Array && value.length > 0) sum = crc32(value, sum);
  }
  return sum;
}

function describeValue(value: SqlValue): string {
  if (value === null) return "n;";
  if (value instanceof Uint8Array) return `b${value.length}:`;
  return typeof value === "number" ? `i${value};` : `t${value.length}:${value}`;
}
