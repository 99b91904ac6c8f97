import type { Taint } from "../engine/index.ts";

/** A memory as it is shown to its model: who has said it decides how much it counts. */
export type ShownMemory = { readonly block: number; readonly text: string; readonly taint: Taint };

const whose = { user: "the user's", model: "yours", untrusted: "from untrusted content" } as const;

/** One line, since only a line of ours can be told from content. The original has the rest. */
export function memoryLine({ block, text, taint }: ShownMemory, nonce: string): string {
  return `${memoryMark(block, nonce)}, ${whose[taint]}: ${memoryWords(text)}]`;
}

/** What the line of a memory begins with, whatever it says. */
export function memoryMark(block: number, nonce: string): string {
  return `[${nonce} memory #${block}`;
}

export function memoryWords(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
