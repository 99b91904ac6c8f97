import { memoryLine, memoryMark, type ShownMemory } from "../../render/index.ts";
import type { Item } from "./draft.ts";
import { bytesOf, isOwn, type Place, pathTo } from "./place.ts";

/** What is sent before anything new: a path, and items behind it. */
export type SentBefore = { readonly end: Place; readonly items: readonly Item[] };

/**
 * Memories that nothing on the way says, as lines of ours: one is in sight from when it was noted, in the
 * call that noted it, until a rewrite leaves that out. What a user has noted was never said.
 */
export function unsaidMemories(
  memories: readonly ShownMemory[],
  { end, items }: SentBefore,
  nonce: string,
): readonly string[] {
  if (memories.length === 0) return [];
  const own = [...pathTo(end).filter(isOwn).map(bytesOf), ...items.filter(isOwn).map(({ bytes }) => bytes)];
  const said = own.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const isSaid = ({ block, text }: ShownMemory): boolean => {
    const words = [`${memoryMark(block, nonce)},`, JSON.stringify(text).slice(1, -1)];
    return said.some((bytes) => words.some((one) => bytes.includes(one)));
  };
  return memories.filter((memory) => !isSaid(memory)).map((memory) => memoryLine(memory, nonce));
}
