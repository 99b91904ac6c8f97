import type { ClientFilePlan } from "./client-files.ts";

/** Null removes the value. */
type NewValue = { readonly path: readonly string[]; readonly value: string | null };
/** Only a plain JSON object can be edited: comments in the file would be lost. */
type EditResult = { readonly text: string } | { readonly problem: string };

/** The value at a path of a settings file; null if it has none. */
export function valueAt(
  { form }: Pick<ClientFilePlan, "form">,
  text: string | null,
  path: readonly string[],
): string | null {
  if (text === null) return null;
  return form === "json" ? readJsonValue(text, path) : readLineValue(text, path[0] ?? "", form);
}

/** The text of a settings file with new values. */
export function editText(
  { form }: Pick<ClientFilePlan, "form">,
  text: string | null,
  values: readonly NewValue[],
): EditResult {
  if (form === "json") return editJson(text, values);
  const changed = values.reduce(
    (lines, { path, value }) => editLines(lines, { name: path[0] ?? "", value }, form),
    text ?? "",
  );
  return { text: changed };
}

type SettingsObject = { [name: string]: unknown };

const noJson = "it is not a plain JSON object, and comments in it would be lost";

export function readJsonValue(text: string, path: readonly string[]): string | null {
  let value: unknown = parseJson(text);
  for (const name of path) value = isFields(value) ? value[name] : undefined;
  return typeof value === "string" ? value : null;
}

/** Sets values and keeps the file's indentation. Null removes a value, and the objects that become empty. */
function editJson(text: string | null, changes: readonly NewValue[]): EditResult {
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

/** Files with lines `name = "value"`: the top of a TOML file, and env files. */
type LineForm = "toml" | "env";
type LineSetting = { readonly name: string; readonly value: string | null };

function readLineValue(text: string, name: string, form: LineForm): string | null {
  const { top } = splitTop(text, form);
  const found = top.map((line) => linePattern(name).exec(line)).findLast((match) => match !== null);
  return found?.[1] === undefined ? null : unquoted(found[1]);
}

/** Replaces, adds or removes one line. Every other line stays, with its comments and line end. */
function editLines(text: string, { name, value }: LineSetting, form: LineForm): string {
  const { top, rest } = splitTop(text, form);
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const others = top.filter((line) => !linePattern(name).test(line));
  if (value === null) return [...others, ...rest].join("");
  const newLine = `${form === "toml" ? `${name} = ${JSON.stringify(value)}` : `${name}=${value}`}${end}`;
  const at = top.findIndex((line) => linePattern(name).test(line));
  if (at >= 0) return [...top.map((line, index) => (index === at ? newLine : line)), ...rest].join("");
  // At the start of the file: after a table header it would belong to that table.
  if (form === "toml") return [newLine, ...top, ...rest].join("");
  const last = top.at(-1);
  const closed = last === undefined || /\n$/.test(last) ? top : [...top.slice(0, -1), `${last}${end}`];
  return [...closed, newLine].join("");
}

/** Lines with their line ends. Lines after the first table header are not at the top of the file. */
function splitTop(text: string, form: LineForm) {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const table = form === "toml" ? lines.findIndex((line) => /^\s*\[/.test(line)) : -1;
  return table < 0 ? { top: lines, rest: [] } : { top: lines.slice(0, table), rest: lines.slice(table) };
}

function linePattern(name: string): RegExp {
  return new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=\\s*(.*?)\\s*$`);
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1/.exec(value)?.[2] ?? value.replace(/\s+#.*$/, "");
}
