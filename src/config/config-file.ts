import { isAbsolute, join } from "node:path";
import { type Environment, fileKeyOf, valueIn } from "./values.ts";

/** What a config file says: settings under their variable names, and upstreams for `/u/<name>`. */
export type FileSettings = {
  readonly values: Environment;
  readonly upstreams: ReadonlyMap<string, string>;
};

export const noFile: FileSettings = { values: {}, upstreams: new Map() };

/**
 * Where the config file of this user is. Null: it was given as a relative path, which is refused, because a
 * folder somebody else made must not decide where keys are sent.
 */
export function configPathOf(env: Environment, home: string): string | null {
  const own = valueIn(env, "APERTURE_CONFIG");
  if (own !== undefined) return isAbsolute(own) ? own : null;
  const shared = valueIn(env, "XDG_CONFIG_HOME");
  const folder = shared !== undefined && isAbsolute(shared) ? shared : join(home, ".config");
  return join(folder, "aperture", "config.json");
}

/** Which settings a file may hold: all but the one that says where it is. */
type Reading = { readonly names: readonly string[]; readonly problems: string[] };

export function readConfigFile(text: string, { names, problems }: Reading): FileSettings {
  const parsed = parseObject(text);
  if (typeof parsed === "string") {
    problems.push(`The config file cannot be used: ${parsed}.`);
    return noFile;
  }
  const known = new Map(names.map((name) => [fileKeyOf(name), name]));
  const values: Record<string, string> = {};
  for (const [key, value] of Object.entries(parsed)) {
    if (key === "upstreams") continue;
    const name = known.get(key);
    const written = textOf(value);
    if (name === undefined) problems.push(`The config file has an unknown setting: "${key}".`);
    else if (written === null)
      problems.push(`${key} in the config file must be a text, number or list of texts.`);
    else values[name] = written;
  }
  return { values, upstreams: readNamed(parsed["upstreams"], problems) };
}

/** The object, or what is wrong. The parser's own message is left out: it quotes the text, token included. */
function parseObject(text: string): Readonly<Record<string, unknown>> | string {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return isObject(value) ? value : "it must hold one JSON object";
  } catch {
    return "it is not valid JSON";
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As the variable would be written. */
function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (typeof value === "boolean") return value ? "1" : "";
  const texts = Array.isArray(value) && value.every((entry) => typeof entry === "string");
  return texts ? value.join(",") : null;
}

function readNamed(value: unknown, problems: string[]): ReadonlyMap<string, string> {
  if (value === undefined) return new Map();
  if (!isObject(value)) {
    problems.push("upstreams in the config file must be an object of names and URLs.");
    return new Map();
  }
  const usable = Object.entries(value).filter((entry): entry is [string, string] => {
    const [name, url] = entry;
    if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) {
      problems.push(`The upstream name "${name}" must be up to 32 lower-case letters, digits, - and _.`);
      return false;
    }
    if (typeof url !== "string") problems.push(`The upstream ${name} in the config file must be a URL.`);
    return typeof url === "string";
  });
  return new Map(usable);
}
