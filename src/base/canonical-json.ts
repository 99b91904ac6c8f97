import { AssertionFault, assert } from "./assert.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * One text per value: keys sorted, no spaces, no undefined. Frames are hashed in this form, so two machines
 * that agree on a frame agree on its hash.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      assert(Number.isFinite(value), "canonical JSON holds finite numbers only");
      return `${value}`;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>);
    default:
      throw new AssertionFault(`canonical JSON cannot hold a ${typeof value}`);
  }
}

/** Text that needs no escaping in JSON. Most texts are names and hashes, so this skips `JSON.stringify`. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function canonicalArray(items: readonly unknown[]): string {
  let text = "[";
  for (const item of items) text += text === "[" ? canonicalJson(item) : `,${canonicalJson(item)}`;
  return `${text}]`;
}

function canonicalObject(record: Readonly<Record<string, unknown>>): string {
  let text = "{";
  for (const key of sortKeys(Object.keys(record))) {
    const value = record[key];
    if (value === undefined) continue;
    text += `${text === "{" ? "" : ","}${quote(key)}:${canonicalJson(value)}`;
  }
  return `${text}}`;
}

/** Up to this many keys an insertion sort is faster than `Array.prototype.sort`. */
const FEW_KEYS = 24;

/** Sorts the list in place, by code unit: the order is the same in every locale. */
function sortKeys(keys: string[]): readonly string[] {
  if (keys.length > FEW_KEYS) return keys.sort(byCodeUnit);
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] as string;
    let at = next;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}

function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
