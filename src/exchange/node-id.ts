import { type ContentHash, canonicalJson, sha256Hex } from "../base/index.ts";

const idChars = 32;

/**
 * The id of a unit, made from all units before it and from its key and bytes, so that two threads compute the
 * same id without asking each other.
 */
export function nodeId(parent: string | null, key: string, bytesHash: ContentHash): string {
  return sha256Hex(canonicalJson([parent, key, bytesHash])).slice(0, idChars);
}

/** A unit that the provider is asked to leave out differs from the same bytes that the model sees. */
export function nodeKey(key: string, isCleared: boolean): string {
  return isCleared ? `cleared ${key}` : key;
}
