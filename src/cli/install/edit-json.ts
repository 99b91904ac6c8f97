import type { FileValue } from "./client-files.ts";

/** Only a plain JSON object can be edited: comments in the file would be lost. */
export type EditResult = { readonly text: string } | { readonly problem: string };

type SettingsObject = { [name: string]: unknown };

const noJson = "it is not a plain JSON object, and comments in it would be lost";

export function readJsonValue(text: string, path: readonly string[]): string | null {
  let value: unknown = parseJson(text);
  for (const name of path) value = isFields(value) ? value[name] : undefined;
  return typeof value === "string" ? value : null;
}

/** Sets values and keeps the file's indentation. Null removes a value, and the objects that become empty. */
export function editJson(
  text: string | null,
  changes: readonly { readonly path: readonly string[]; readonly value: FileValue["value"] | null }[],
): EditResult {
  const fields = text === null || text.trim() === "" ? {} : parseJson(text);
  if (!isFields(fields)) return { problem: noJson };
  for (const { path, value } of changes) {
    if (value === null) remove(fields, path);
    else if (!put(fields, path, value))
      return { problem: `${path.slice(0, -1).join(".")} is not an object in it` };
  }
  return { text: `${JSON.stringify(fields, null, indentOf(text ?? ""))}\n` };
}

function put(fields: SettingsObject, path: readonly string[], value: string): boolean {
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

function remove(fields: SettingsObject, path: readonly string[]): void {
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as unknown;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is SettingsObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
