import { type ContentHash, canonicalJson, sha256Hex } from "../base/index.ts";

const idChars = 32;

/**
 * Names a unit by all that stands before it and by what it is, so that two threads name it alike without
 * asking each other.
 */
export function placeId(parent: string | null, key: string, bytesHash: ContentHash): string {
  return sha256Hex(canonicalJson([parent, key, bytesHash])).slice(0, idChars);
}

/** What the provider is asked to leave out is another unit than the same bytes in sight. */
export function placeKey(key: string, isCleared: boolean): string {
  return isCleared ? `cleared ${key}` : key;
}
