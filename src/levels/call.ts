import type { Json } from "../base/index.ts";
import type { Source } from "./source.ts";

// What the input of a call says about its result. Tools of every client name these alike enough.

const pathKeys = ["file_path", "filePath", "path", "filename", "file", "notebook_path", "target_file"];
export const commandKeys: readonly string[] = ["command", "cmd", "script"];

/** The file a call is about, or null. */
export function pathOf({ input }: Pick<Source, "input">): string | null {
  return firstOf(input, pathKeys);
}

/** What a call runs, as one text, or null. */
export function commandOf({ input }: Pick<Source, "input">): string | null {
  return firstOf(input, commandKeys);
}

export function firstOf(input: Json | null, keys: readonly string[]): string | null {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return null;
  const fields = input as { readonly [key: string]: Json };
  for (const key of keys) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value)) return value.filter((word) => typeof word === "string").join(" ");
  }
  return null;
}
