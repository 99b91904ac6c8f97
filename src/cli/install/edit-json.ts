import type { JsonValue } from "./plan.ts";

/** A text that is no JSON object cannot be edited: it may hold remarks, which would be lost. */
export type Edited = { readonly text: string } | { readonly problem: string };

type Fields = { [name: string]: unknown };

const noJson = "it is not a plain JSON object; remarks in it would be lost";

export function readJsonValue(text: string, path: readonly string[]): string | null {
  let value: unknown = parsed(text);
  for (const name of path) value = isFields(value) ? value[name] : undefined;
  return typeof value === "string" ? value : null;
}

/** Sets values, in the indentation the file has. Null takes one out, and with it what then is empty. */
export function editJson(
  text: string | null,
  changes: readonly { readonly path: readonly string[]; readonly value: JsonValue["value"] | null }[],
): Edited {
  const fields = text === null || text.trim() === "" ? {} : parsed(text);
  if (!isFields(fields)) return { problem: noJson };
  for (const { path, value } of changes) {
    if (value === null) remove(fields, path);
    else if (!put(fields, path, value))
      return { problem: `${path.slice(0, -1).join(".")} is no object in it` };
  }
  return { text: `${JSON.stringify(fields, null, indentOf(text ?? ""))}\n` };
}

function put(fields: Fields, path: readonly string[], value: string): boolean {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    fields[name] = value;
    return true;
  }
  const inner = fields[name] ?? {};
  if (!isFields(inner)) return false;
  fields[name] = inner;
  return put(inner, rest, value);
}

function remove(fields: Fields, path: readonly string[]): void {
  const [name = "", ...rest] = path;
  const inner = fields[name];
  if (rest.length === 0) delete fields[name];
  else if (isFields(inner)) {
    remove(inner, rest);
    if (Object.keys(inner).length === 0) delete fields[name];
  }
}

function indentOf(text: string): string | number {
  return /^[{[]\r?\n([ \t]+)/.exec(text)?.[1] ?? 2;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as unknown;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
