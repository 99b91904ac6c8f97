import type { Taint } from "../engine/frames/index.ts";

/** A memory as the model reads it: its author decides how much it counts. */
export type ShownMemory = { readonly block: number; readonly text: string; readonly taint: Taint };

export type MemoryNote = ShownMemory & { readonly nonce: string };

const owners = { user: "the user's", model: "yours", untrusted: "from untrusted content" } as const;

/** `[k7f3 memory #12, yours: ...]`. One line, since only a marked line can be told from content. */
export function memoryLine({ block, text, taint }: ShownMemory, nonce: string): string {
  return `${memoryMark(block, nonce)} ${owners[taint]}: ${memoryText(text)}]`;
}

export function readMemoryLine(line: string): MemoryNote | null {
  const found = memoryForm.exec(line);
  if (found === null) return null;
  const [, nonce = "", block, owner, text = ""] = found;
  const taint = (Object.keys(owners) as Taint[]).find((one) => owners[one] === owner) ?? "untrusted";
  return { nonce, block: Number(block), taint, text };
}

const memoryForm = new RegExp(`^\\[(\\w+) memory #(\\d+), (${Object.values(owners).join("|")}): (.*)\\]$`);

/** The beginning of the line of a memory, whatever its text is. */
export function memoryMark(block: number, nonce: string): string {
  return `[${nonce} memory #${block},`;
}

export function memoryText(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
