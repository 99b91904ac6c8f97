import { AssertionFault, assert } from "./assert.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * One text per value: keys sorted, no spaces, no undefined. Frames are hashed in this form, so two machines
 * that agree on a frame agree on its hash.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      assert(Number.isFinite(value), "canonical JSON holds finite numbers only");
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>);
    default:
      throw new AssertionFault(`canonical JSON cannot hold a ${typeof value}`);
  }
}

function canonicalArray(items: readonly unknown[]): string {
  let text = "[";
  for (const item of items) text += text === "[" ? canonicalJson(item) : `,${canonicalJson(item)}`;
  return `${text}]`;
}

function canonicalObject(record: Readonly<Record<string, unknown>>): string {
  let text = "{";
  for (const key of Object.keys(record).sort(byCodeUnit)) {
    const value = record[key];
    if (value === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(value)}`;
  }
  return `${text}}`;
}

/** The same order in every locale. */
function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
