import { hash } from "node:crypto";

/**
 * SHA-256 in hex. The one door to node:crypto: hashing is arithmetic, everything else in that module is not.
 */
export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}
