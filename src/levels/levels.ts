import type { Json } from "../base/index.ts";
import { minimal } from "./minimal.ts";
import type { Source } from "./source.ts";
import { trimText } from "./trim-text.ts";

/**
 * The renditions that need no model. Every answer is a function of the source alone; it comes as a promise
 * because grammars are loaded when they are first needed.
 */
export class Levels {
  /** Null if it would not be worth it. */
  trimmed(source: Source): Promise<string | null> {
    return Promise.resolve(trimText(source));
  }

  minimal(source: Source): string {
    return minimal(source);
  }

  /** The input of a tool call, its long strings trimmed; null if it would not be worth it. */
  trimmedInput(input: Json): Promise<Json | null> {
    const trimmed = trimStrings(input);
    return Promise.resolve(trimmed === input ? null : trimmed);
  }
}

/** The same value if nothing in it was trimmed. */
function trimStrings(value: Json): Json {
  if (typeof value === "string")
    return trimText({ kind: "tool-call", text: value, tool: null, input: null }) ?? value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(trimStrings);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const fields = value as { readonly [key: string]: Json };
  const entries = Object.entries(fields).map(([key, field]) => [key, trimStrings(field)] as const);
  return entries.every(([key, field]) => field === fields[key]) ? value : Object.fromEntries(entries);
}
