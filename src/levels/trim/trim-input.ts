import type { Json } from "../../base/index.ts";
import { commandKeys, pathOf } from "../call-input.ts";
import { trimText } from "./trim-text.ts";

/**
 * Trims the long strings in the input of a call: as content of the file that the call names, or as a shell
 * script. Null if that saves too little.
 */
export function trimInput(input: Json): Json | null {
  const trimmed = trimValue(input, { path: null, depth: 0 });
  if (trimmed === input) return null;
  const sizes = [trimmed, input].map((value) => JSON.stringify(value).length) as [number, number];
  return sizes[0] > sizes[1] * worthwhileShare ? null : trimmed;
}

const worthwhileShare = 0.75;
/** No real call nests its input deeper. */
const depthMax = 32;

type TrimContext = { readonly path: string | null; readonly depth: number };

/** Returns the same value if nothing in it was trimmed. */
function trimValue(value: Json, { path, depth }: TrimContext): Json {
  if (typeof value === "string") return trimString(value, path);
  if (typeof value !== "object" || value === null || depth > depthMax) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => trimValue(item, { path, depth: depth + 1 }));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const fields = value as { readonly [key: string]: Json };
  const own = pathOf({ input: fields }) ?? path;
  const entries = Object.entries(fields).map(([key, field]) => {
    const file = commandKeys.includes(key) ? scriptPath : own;
    return [key, trimValue(field, { path: file, depth: depth + 1 })] as const;
  });
  return entries.every(([key, field]) => field === fields[key]) ? value : Object.fromEntries(entries);
}

/** A made-up path: its extension makes a command be trimmed as a shell script. */
const scriptPath = "command.sh";

function trimString(text: string, path: string | null): string {
  const input = path === null ? null : { path };
  return trimText({ kind: "tool-call", text, tool: null, input }) ?? text;
}
