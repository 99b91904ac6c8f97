import { isAbsolute, join } from "node:path";
import { type Environment, fileKeyOf, valueIn } from "./setting-values.ts";

/** The content of a config file: settings by their variable names, and the upstreams for `/u/<name>`. */
export type FileSettings = {
  readonly values: Environment;
  readonly upstreams: ReadonlyMap<string, string>;
};

export const emptyFileSettings: FileSettings = { values: {}, upstreams: new Map() };

/**
 * The path of this user's config file. Null if the given path is relative: it is refused, because a folder of
 * another person must not decide where keys are sent.
 */
export function configPathOf(env: Environment, home: string): string | null {
  const own = valueIn(env, "APERTURE_CONFIG");
  if (own !== undefined) return isAbsolute(own) ? own : null;
  const shared = valueIn(env, "XDG_CONFIG_HOME");
  const folder = shared !== undefined && isAbsolute(shared) ? shared : join(home, ".config");
  return join(folder, "aperture", "config.json");
}

type ConfigFileInput = {
  readonly path: string;
  /** The settings that a file may contain: all except the one that locates it. */
  readonly names: readonly string[];
  readonly problems: string[];
};

export function readConfigFile(text: string, { path, names, problems }: ConfigFileInput): FileSettings {
  const parsed = parseObject(text);
  if (typeof parsed === "string") {
    problems.push(`The config file ${path} cannot be used: ${parsed}.`);
    return emptyFileSettings;
  }
  const known = new Map(names.map((name) => [fileKeyOf(name), name]));
  const values: Record<string, string> = {};
  for (const [key, value] of Object.entries(parsed)) {
    if (key === "upstreams") continue;
    const name = known.get(key);
    const valueText = textOf(value);
    if (name === undefined) problems.push(`The config file has an unknown setting: "${key}".`);
    else if (valueText === null)
      problems.push(`${key} in the config file must be a text, a number or a list of texts.`);
    else values[name] = valueText;
  }
  return { values, upstreams: readNamedUpstreams(parsed["upstreams"], problems) };
}

/**
 * The object, or the problem. The parser's own message is left out, because it quotes the text with the
 * token.
 */
function parseObject(text: string): Readonly<Record<string, unknown>> | string {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return isObject(value) ? value : "it must contain one JSON object";
  } catch (error) {
    const position = errorPosition(String(error), text);
    if (position === null) return "it is not valid JSON";
    return `it is not valid JSON (line ${text.slice(0, position).split("\n").length})`;
  }
}

/** Some messages of the parser have no position, and quote ten characters before and after it instead. */
function errorPosition(message: string, text: string): number | null {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return Number(position);
  const [, dots, quote = ""] = /^.*?, (\.{3})?"(.*)"(?:\.{3})? is not valid JSON$/s.exec(message) ?? [];
  const start = quote === "" ? -1 : text.indexOf(quote);
  if (start === -1) return null;
  if (dots !== undefined) return start + 10;
  const [, token = ""] = /token '(.)'/s.exec(message) ?? [];
  return quote === text ? unquotedIndexOf(text, token) : start + quote.length - 10;
}

/** A short text is quoted whole: the token is the first such character outside of strings. */
function unquotedIndexOf(text: string, token: string): number {
  return text.replace(/"(?:[^"\\\n]|\\.)*"/g, (string) => "_".repeat(string.length)).indexOf(token);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as the variable would be written. */
function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (typeof value === "boolean") return value ? "1" : "";
  const isTextList = Array.isArray(value) && value.every((entry) => typeof entry === "string");
  return isTextList ? value.join(",") : null;
}

function readNamedUpstreams(value: unknown, problems: string[]): ReadonlyMap<string, string> {
  if (value === undefined) return new Map();
  if (!isObject(value)) {
    problems.push("upstreams in the config file must be an object of names and URLs.");
    return new Map();
  }
  const usable = Object.entries(value).filter((entry): entry is [string, string] => {
    const [name, url] = entry;
    if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) {
      problems.push(`The upstream name "${name}" must have at most 32 lower-case letters, digits, - and _.`);
      return false;
    }
    if (typeof url !== "string") problems.push(`The upstream ${name} in the config file must be a URL.`);
    return typeof url === "string";
  });
  return new Map(usable);
}
