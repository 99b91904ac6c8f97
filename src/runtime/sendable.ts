import type { WireBlock } from "./provider.ts";

/*
 * Text of people, tools and models becomes part of every later prompt. One block that a provider does not
 * accept would make it refuse all of them, so such a block is never recorded.
 */

/** A block as bytes, with well-formed strings. */
export function wireBytes(block: WireBlock): Buffer {
  return Buffer.from(JSON.stringify(block, repairString));
}

/** The value with half surrogate pairs, which no provider accepts, as replacement characters. */
export function wellFormed<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, repairString)) as T; // only the characters of strings change
}

function repairString(_: string, value: unknown): unknown {
  return typeof value === "string" ? Buffer.from(value, "utf8").toString("utf8") : value;
}

export function isNotBlank(block: WireBlock): boolean {
  return block.type !== "text" || String(block["text"] ?? "").trim() !== "";
}

/** The text of an error. Any value may be thrown, and providers refuse an error result without text. */
export function problemText(error: unknown): string {
  try {
    const text = String(error instanceof Error ? error.message : error);
    return text.trim() === "" ? "It failed without saying why." : text;
  } catch {
    return "It failed, and what it says of that cannot be read.";
  }
}
