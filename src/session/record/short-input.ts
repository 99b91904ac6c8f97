import { cutText, type Json } from "../../base/index.ts";

/** Longer strings in an input are cut. */
const charsMax = 120;

/** An input of which only the short values are left whole: what was called, on what, and no more. */
export function shortInput(input: Json): Json {
  if (typeof input === "string") return shortText(input);
  if (typeof input !== "object" || input === null) return input;
  if (Array.isArray(input)) return shortList(input);
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, shortInput(value)]));
}

const itemsMax = 4;

function shortList(items: readonly Json[]): Json {
  const left = items.length - itemsMax;
  const kept = items.slice(0, itemsMax).map(shortInput);
  return left > 0 ? [...kept, `[... ${left} items left out ...]`] : kept;
}

function shortText(text: string): string {
  if (text.length <= charsMax) return text;
  return `${cutText(text, charsMax)} [... ${text.length - charsMax} characters left out ...]`;
}
