import type { Json } from "../base/index.ts";
import type { Source } from "./source.ts";

// Reads the file and the command from the input of a call. The tools of all known clients use these keys.

const pathKeys = ["file_path", "filePath", "path", "filename", "file", "notebook_path", "target_file"];
export const commandKeys: readonly string[] = ["command", "cmd", "script"];

/** The file that a call reads or writes, or null. */
export function pathOf({ input }: Pick<Source, "input">): string | null {
  return firstField(input, pathKeys);
}

/** The command line that a call runs, or null. */
export function commandOf({ input }: Pick<Source, "input">): string | null {
  return firstField(input, commandKeys);
}

/** The first of these fields that is set, as text; a list of words becomes one line. */
export function firstField(input: Json | null, keys: readonly string[]): string | null {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return null;
  const fields = input as { readonly [key: string]: Json };
  for (const key of keys) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value)) return value.filter((word) => typeof word === "string").join(" ");
  }
  return null;
}
