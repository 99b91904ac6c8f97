import { hash } from "node:crypto";

/**
 * SHA-256 in hex. The pure folders reach node:crypto only through here: hashing is arithmetic, the rest of
 * that module is not.
 */
export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}
