import { crc32 } from "node:zlib";

export type SqlValue = number | string | Uint8Array | null;

/**
 * A checksum over the columns of a row, kept in the row. Hashes protect what frames, contents and bodies
 * say; this finds a changed bit in everything else: lengths, links, the unused bits of deflated bytes.
 */
export function rowSum(values: readonly SqlValue[]): number {
  let sum = 0;
  for (const value of values) {
    if (value instanceof Uint8Array) sum = crc32(value, crc32(`b${value.length}:`, sum));
    else sum = crc32(describeValue(value), sum);
  }
  return sum;
}

function describeValue(value: number | string | null): string {
  if (value === null) return "n;";
  return typeof value === "number" ? `i${value};` : `t${value.length}:${value}`;
}
