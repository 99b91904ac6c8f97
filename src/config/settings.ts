import { isIP } from "node:net";
import { isAbsolute, join } from "node:path";
import { noFile, readConfigFile } from "./config-file.ts";
import { officialUpstreams, pointsAt, readUpstreams, type UpstreamSettings } from "./upstreams.ts";
import { type Environment, type Values, valueIn, valuesOf } from "./values.ts";

export type Mode = "observe" | "ask" | "auto";
export type HeadersSetting = "compact" | "full" | "off";
export type ManifestSetting = "text" | "xml" | "markdown" | "off";
export type FillSetting = "shown" | "hidden";
export type ArrivalSetting = "lossless" | "trimmed" | "off";
export type PolicySetting = "auto" | "off";
export type TextCommandsSetting = "off" | "on";

export type Settings = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly mode: Mode;
  /** Whether sessions of subscription logins are managed too: their owner has agreed to it. */
  readonly managesLogins: boolean;
  /** Whether others can reach this address: then model routes need the token too. */
  readonly isRemote: boolean;
  /** Host values to answer under besides the loopback names. */
  readonly allowedHosts: readonly string[];
  readonly upstreams: UpstreamSettings;
  /** How a model is told of its context. */
  readonly headers: HeadersSetting;
  readonly manifest: ManifestSetting;
  readonly manifestFill: FillSetting;
  /** Whether it commands by lines of its answers instead of calling tools. */
  readonly textCommands: TextCommandsSetting;
  /** What is done to what is shown without anybody asking for it. */
  readonly arrival: ArrivalSetting;
  readonly policy: PolicySetting;
  /** Absent means that none was set; the panel and the control API will need one. */
  readonly token?: string;
};

export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly problems: readonly string[] };

export type SettingRow = {
  readonly name: string;
  /** As a reader would write it; `none` where there is no default. */
  readonly defaultText: string;
  readonly meaning: string;
};

/** The default first. */
const modes: readonly Mode[] = ["auto", "ask", "observe"];
const headerModes: readonly HeadersSetting[] = ["compact", "full", "off"];
const manifests: readonly ManifestSetting[] = ["text", "xml", "markdown", "off"];
const fills: readonly FillSetting[] = ["shown", "hidden"];
const arrivals: readonly ArrivalSetting[] = ["lossless", "trimmed", "off"];
const policies: readonly PolicySetting[] = ["auto", "off"];
const textCommandModes: readonly TextCommandsSetting[] = ["off", "on"];

/** What `docs/reference/settings.md` must describe, heading by heading. */
export const settingsTable: readonly SettingRow[] = [
  { name: "APERTURE_PORT", defaultText: "4400", meaning: "the port to listen on" },
  { name: "APERTURE_HOST", defaultText: "127.0.0.1", meaning: "the address to listen on" },
  {
    name: "APERTURE_ALLOW_REMOTE",
    defaultText: "none",
    meaning: "1 allows an address that others can reach; needs a token as well",
  },
  {
    name: "APERTURE_ALLOWED_HOSTS",
    defaultText: "none",
    meaning: "further names to answer under, separated by commas",
  },
  {
    name: "APERTURE_UPSTREAM_ANTHROPIC",
    defaultText: officialUpstreams.anthropic,
    meaning: "where requests to Anthropic go",
  },
  {
    name: "APERTURE_UPSTREAM_OPENAI",
    defaultText: officialUpstreams.openai,
    meaning: "where requests to OpenAI go",
  },
  {
    name: "APERTURE_UPSTREAM_GEMINI",
    defaultText: officialUpstreams.gemini,
    meaning: "where requests to Gemini go",
  },
  {
    name: "APERTURE_UPSTREAM_BEDROCK",
    defaultText: officialUpstreams.bedrock,
    meaning: "where requests to Bedrock go",
  },
  {
    name: "APERTURE_DATA_DIR",
    defaultText: "$XDG_DATA_HOME/aperture, else ~/.local/share/aperture",
    meaning: "where sessions are kept",
  },
  { name: "APERTURE_MODE", defaultText: "auto", meaning: "observe, ask or auto" },
  {
    name: "APERTURE_MANAGE_LOGINS",
    defaultText: "none",
    meaning: "1 manages sessions of subscription logins too",
  },
  {
    name: "APERTURE_HEADERS",
    defaultText: "compact",
    meaning: "how blocks are announced to the model: compact, full or off",
  },
  {
    name: "APERTURE_MANIFEST",
    defaultText: "text",
    meaning: "the form of the context manifest: text, xml, markdown or off",
  },
  {
    name: "APERTURE_MANIFEST_FILL",
    defaultText: "shown",
    meaning: "whether the manifest says how full the window is: shown or hidden",
  },
  {
    name: "APERTURE_TEXT_COMMANDS",
    defaultText: "off",
    meaning: "whether models command by lines of their answers instead of tools: on or off",
  },
  {
    name: "APERTURE_ARRIVAL",
    defaultText: "lossless",
    meaning: "what is left out of new tool results: lossless (what loses nothing), trimmed or off",
  },
  {
    name: "APERTURE_POLICY",
    defaultText: "auto",
    meaning: "whether old blocks are shown shorter by themselves: auto or off",
  },
  { name: "APERTURE_TOKEN", defaultText: "none", meaning: "the secret that panel and API callers present" },
  {
    name: "APERTURE_CONFIG",
    defaultText: "$XDG_CONFIG_HOME/aperture/config.json, else ~/.config/aperture/config.json",
    meaning: "a JSON file with these settings",
  },
];

const fileSettings = settingsTable.map(({ name }) => name).filter((name) => name !== "APERTURE_CONFIG");

/** What a config file says, under the names of the variables, whether all of it can be used or not. */
export function fileValues(configText: string): Environment {
  return readConfigFile(configText, { names: fileSettings, problems: [] }).values;
}

/**
 * Reports every problem at once: fixing settings one restart at a time is a nuisance. `configText` is what
 * stands in the file at `configPathOf`, or null if there is none.
 */
export function readSettings(
  env: Environment,
  home: string,
  configText: string | null = null,
): SettingsResult {
  const problems: string[] = [];
  checkConfigPath(env, problems);
  const file = configText === null ? noFile : readConfigFile(configText, { names: fileSettings, problems });
  const values = valuesOf(env, file.values);
  const port = readPort(values, problems);
  const mode = readChoice(values, problems, { name: "APERTURE_MODE", choices: modes });
  const headers = readChoice(values, problems, { name: "APERTURE_HEADERS", choices: headerModes });
  const manifest = readChoice(values, problems, { name: "APERTURE_MANIFEST", choices: manifests });
  const manifestFill = readChoice(values, problems, { name: "APERTURE_MANIFEST_FILL", choices: fills });
  const textName = "APERTURE_TEXT_COMMANDS";
  const textCommands = readChoice(values, problems, { name: textName, choices: textCommandModes });
  const arrival = readChoice(values, problems, { name: "APERTURE_ARRIVAL", choices: arrivals });
  const policy = readChoice(values, problems, { name: "APERTURE_POLICY", choices: policies });
  const token = readToken(values, problems);
  const managesLogins = readManagesLogins(values, problems);
  const { host, isRemote } = readHost(values, problems);
  const allowedHosts = readAllowedHosts(values, problems);
  const upstreams = readUpstreams({ values, named: file.upstreams, problems });
  checkLoops(upstreams, { hosts: [...loopbackHosts, host], port }, problems);
  if (problems.length > 0) return { ok: false, problems };
  const dataDir = readDataDir(values, env, home);
  const told = { headers, manifest, manifestFill, textCommands, arrival, policy };
  const settings = { host, port, mode, managesLogins, dataDir, isRemote, allowedHosts, upstreams, ...told };
  return { ok: true, settings: token === undefined ? settings : { ...settings, token } };
}

/** Where Aperture may listen. Anything else is open to others, and needs more than an address. */
export const loopbackHosts: readonly string[] = ["127.0.0.1", "::1", "localhost"];

function checkConfigPath(env: Environment, problems: string[]): void {
  const path = valueIn(env, "APERTURE_CONFIG");
  if (path !== undefined && !isAbsolute(path)) {
    problems.push(
      "APERTURE_CONFIG must be an absolute path: a file in a project must not decide where keys go.",
    );
  }
}

function readManagesLogins(values: Values, problems: string[]): boolean {
  const text = values.get("APERTURE_MANAGE_LOGINS") ?? "0";
  if (text !== "0" && text !== "1") {
    problems.push(`${values.label("APERTURE_MANAGE_LOGINS")} must be 1 or 0, not "${text}".`);
  }
  return text === "1";
}

type Host = { readonly host: string; readonly isRemote: boolean };

function readHost(values: Values, problems: string[]): Host {
  const text = values.get("APERTURE_HOST") ?? "127.0.0.1";
  const host = text.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  const label = values.label("APERTURE_HOST");
  if (isIP(host) === 0 && !/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(host)) {
    problems.push(`${label} must be an address or a host name, not "${text}".`);
    return { host, isRemote: false };
  }
  if (loopbackHosts.includes(host)) return { host, isRemote: false };
  const missing = [
    ...(values.get("APERTURE_TOKEN") === undefined ? ["a secret in APERTURE_TOKEN"] : []),
    ...(values.get("APERTURE_ALLOW_REMOTE") === "1" ? [] : ["APERTURE_ALLOW_REMOTE=1"]),
  ];
  if (missing.length > 0) {
    problems.push(`${label} is ${host}, which others can reach. That needs ${missing.join(" and ")}.`);
  }
  return { host, isRemote: true };
}

function readPort(values: Values, problems: string[]): number {
  const text = values.get("APERTURE_PORT") ?? "4400";
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) {
    problems.push(`${values.label("APERTURE_PORT")} must be a whole number from 1 to 65535, not "${text}".`);
  }
  return port;
}

type Choice<T extends string> = { readonly name: string; readonly choices: readonly T[] };

/** One of a few words; the first where nothing is said. */
function readChoice<T extends string>(values: Values, problems: string[], { name, choices }: Choice<T>): T {
  const [usual] = choices;
  const text = values.get(name) ?? usual;
  const choice = choices.find((one) => one === text);
  if (choice !== undefined) return choice;
  problems.push(`${values.label(name)} must be ${listOf(choices)}, not "${text}".`);
  return usual as T;
}

function listOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function readToken(values: Values, problems: string[]): string | undefined {
  const token = values.get("APERTURE_TOKEN");
  // The value itself stays out of the message: messages end up in logs.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const label = values.label("APERTURE_TOKEN");
    problems.push(`${label} may contain only visible ASCII characters, and no spaces.`);
  }
  return token;
}

/** As clients send them: a name, with its port unless it is the usual one. No patterns. */
function readAllowedHosts(values: Values, problems: string[]): readonly string[] {
  const names = (values.get("APERTURE_ALLOWED_HOSTS") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const given = names.filter((name) => name !== "");
  for (const name of given) {
    if (/^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::[0-9]{1,5})?$/.test(name)) continue;
    const label = values.label("APERTURE_ALLOWED_HOSTS");
    problems.push(`${label} must hold names such as aperture.example:4400, not "${name}".`);
  }
  return given;
}

type Here = { readonly hosts: readonly string[]; readonly port: number };

function checkLoops({ named, ...builtIn }: UpstreamSettings, here: Here, problems: string[]): void {
  for (const [name, url] of [...Object.entries(builtIn), ...named]) {
    if (pointsAt(url, here)) problems.push(`The upstream ${name} is this very server, ${url.host}.`);
  }
}

function readDataDir(values: Values, env: Environment, home: string): string {
  const own = values.get("APERTURE_DATA_DIR");
  if (own !== undefined) return own;
  const shared = valueIn(env, "XDG_DATA_HOME");
  // The XDG rules say that a relative path is to be ignored.
  return join(
    shared !== undefined && isAbsolute(shared) ? shared : join(home, ".local", "share"),
    "aperture",
  );
}
