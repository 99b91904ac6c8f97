import { isIP } from "node:net";
import { isAbsolute, join } from "node:path";
import { configPathOf, emptyFileSettings, readConfigFile } from "./config-file.ts";
import { type Environment, type SettingValues, valueIn, valuesOf } from "./setting-values.ts";
import {
  isOwnAddress,
  officialUpstreams,
  readUpstreams,
  type UpstreamSettings,
} from "./upstream-settings.ts";

export type ConfiguredMode = "observe" | "ask" | "auto";
export type HeadersSetting = "compact" | "full" | "off";
export type ManifestSetting = "text" | "xml" | "markdown" | "off";
export type ArrivalSetting = "lossless" | "trimmed" | "off";
export type PolicySetting = "auto" | "off";
export type TextCommandsSetting = "off" | "on";

export type Settings = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly mode: ConfiguredMode;
  /** Sessions of subscription logins are managed too, with their owner's consent. */
  readonly managesLogins: boolean;
  /** Other machines can reach this address, so model routes require the token too. */
  readonly isRemote: boolean;
  /** Accepted Host values besides the loopback names. */
  readonly allowedHosts: readonly string[];
  readonly upstreams: UpstreamSettings;
  /** The form of the notes to the model. */
  readonly headers: HeadersSetting;
  readonly manifest: ManifestSetting;
  /** The model gives commands as lines of its answers instead of tool calls. */
  readonly textCommands: TextCommandsSetting;
  /** Automatic changes of the context. */
  readonly arrival: ArrivalSetting;
  readonly policy: PolicySetting;
  /** Absent if none is set; Aperture then creates one. */
  readonly token?: string;
};

export type SettingsResult =
  | { readonly ok: true; readonly settings: Settings }
  | { readonly ok: false; readonly problems: readonly string[] };

export type SettingRow = {
  readonly name: string;
  /** The default as a user would write it; `none` if there is none. */
  readonly defaultText: string;
  readonly meaning: string;
};

/** The first choice is the default. */
const modes: readonly ConfiguredMode[] = ["auto", "ask", "observe"];
const headerModes: readonly HeadersSetting[] = ["compact", "full", "off"];
const manifests: readonly ManifestSetting[] = ["text", "xml", "markdown", "off"];
const arrivals: readonly ArrivalSetting[] = ["lossless", "trimmed", "off"];
const policies: readonly PolicySetting[] = ["auto", "off"];
const textCommandModes: readonly TextCommandsSetting[] = ["off", "on"];

/** All settings. `docs/reference/settings.md` describes them under the same names. */
export const settingsTable: readonly SettingRow[] = [
  { name: "APERTURE_PORT", defaultText: "4400", meaning: "port to listen on" },
  { name: "APERTURE_HOST", defaultText: "127.0.0.1", meaning: "address to listen on" },
  {
    name: "APERTURE_ALLOW_REMOTE",
    defaultText: "none",
    meaning: "1 allows an address that other machines can reach; also needs a token",
  },
  {
    name: "APERTURE_ALLOWED_HOSTS",
    defaultText: "none",
    meaning: "additional accepted host names, separated by commas",
  },
  {
    name: "APERTURE_UPSTREAM_ANTHROPIC",
    defaultText: officialUpstreams.anthropic,
    meaning: "upstream for requests to Anthropic",
  },
  {
    name: "APERTURE_UPSTREAM_OPENAI",
    defaultText: officialUpstreams.openai,
    meaning: "upstream for requests to OpenAI",
  },
  {
    name: "APERTURE_UPSTREAM_GEMINI",
    defaultText: officialUpstreams.gemini,
    meaning: "upstream for requests to Gemini",
  },
  {
    name: "APERTURE_UPSTREAM_BEDROCK",
    defaultText: officialUpstreams.bedrock,
    meaning: "upstream for requests to Bedrock",
  },
  {
    name: "APERTURE_DATA_DIR",
    defaultText: "$XDG_DATA_HOME/aperture, else ~/.local/share/aperture",
    meaning: "folder of the recorded sessions",
  },
  {
    name: "APERTURE_MODE",
    defaultText: "auto",
    meaning: "how much is done without asking: observe, ask or auto",
  },
  {
    name: "APERTURE_MANAGE_LOGINS",
    defaultText: "none",
    meaning: "1 also manages sessions of subscription logins",
  },
  {
    name: "APERTURE_HEADERS",
    defaultText: "compact",
    meaning: "headers of blocks in requests: compact, full or off",
  },
  {
    name: "APERTURE_MANIFEST",
    defaultText: "text",
    meaning: "format of the context manifest: text, xml, markdown or off",
  },
  {
    name: "APERTURE_TEXT_COMMANDS",
    defaultText: "off",
    meaning: "commands as lines of answers instead of tool calls: on or off",
  },
  {
    name: "APERTURE_ARRIVAL",
    defaultText: "lossless",
    meaning: "shortening of new tool results: lossless (removes only redundant text), trimmed or off",
  },
  {
    name: "APERTURE_POLICY",
    defaultText: "auto",
    meaning: "automatic shortening of old blocks: auto or off",
  },
  { name: "APERTURE_TOKEN", defaultText: "none", meaning: "secret of the panel and of API callers" },
  {
    name: "APERTURE_CONFIG",
    defaultText: "$XDG_CONFIG_HOME/aperture/config.json, else ~/.config/aperture/config.json",
    meaning: "JSON file with these settings",
  },
];

const fileSettings = settingsTable.map(({ name }) => name).filter((name) => name !== "APERTURE_CONFIG");

/** The values in a config file by the names of their variables, valid or not. */
export function fileValues(configText: string): Environment {
  return readConfigFile(configText, { path: "", names: fileSettings, problems: [] }).values;
}

/**
 * Reports all problems at once, so that the user need not restart for each. `configText` is the content of
 * the file at `configPathOf`, or null if there is none.
 */
export function readSettings(
  env: Environment,
  home: string,
  configText: string | null = null,
): SettingsResult {
  const problems: string[] = [];
  checkConfigPath(env, problems);
  checkDatabaseUrl(env, problems);
  const path = configPathOf(env, home) ?? "";
  const file =
    configText === null
      ? emptyFileSettings
      : readConfigFile(configText, { path, names: fileSettings, problems });
  const values = valuesOf(env, file.values);
  const port = readPort(values, problems);
  const mode = readChoice(values, problems, { name: "APERTURE_MODE", choices: modes });
  const headers = readChoice(values, problems, { name: "APERTURE_HEADERS", choices: headerModes });
  const manifest = readChoice(values, problems, { name: "APERTURE_MANIFEST", choices: manifests });
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
  const notes = { headers, manifest, textCommands };
  const automatic = { arrival, policy, managesLogins };
  const network = { host, port, isRemote, allowedHosts, upstreams };
  const settings = { mode, dataDir, ...network, ...notes, ...automatic };
  return { ok: true, settings: token === undefined ? settings : { ...settings, token } };
}

/**
 * Addresses that only this machine can reach. Any other address also needs a token and APERTURE_ALLOW_REMOTE.
 */
export const loopbackHosts: readonly string[] = ["127.0.0.1", "::1", "localhost"];

function checkConfigPath(env: Environment, problems: string[]): void {
  const path = valueIn(env, "APERTURE_CONFIG");
  if (path !== undefined && !isAbsolute(path)) {
    problems.push(
      "APERTURE_CONFIG must be an absolute path: a file in a project must not decide where keys are sent.",
    );
  }
}

/** Other databases are planned. Ignoring the variable would leave the user to believe that one is in use. */
function checkDatabaseUrl(env: Environment, problems: string[]): void {
  if (valueIn(env, "APERTURE_DATABASE_URL") === undefined) return;
  problems.push(
    "APERTURE_DATABASE_URL is not supported yet: sessions are stored in SQLite, in APERTURE_DATA_DIR. Unset it.",
  );
}

function readManagesLogins(values: SettingValues, problems: string[]): boolean {
  const text = values.get("APERTURE_MANAGE_LOGINS") ?? "0";
  if (text !== "0" && text !== "1") {
    problems.push(`${values.label("APERTURE_MANAGE_LOGINS")} must be 1 or 0, not "${text}".`);
  }
  return text === "1";
}

type HostSetting = { readonly host: string; readonly isRemote: boolean };

function readHost(values: SettingValues, problems: string[]): HostSetting {
  const text = values.get("APERTURE_HOST") ?? "127.0.0.1";
  const host = text.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  const label = values.label("APERTURE_HOST");
  if (isIP(host) === 0 && !/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(host)) {
    problems.push(`${label} must be an IP address or a host name, not "${text}".`);
    return { host, isRemote: false };
  }
  if (loopbackHosts.includes(host)) return { host, isRemote: false };
  const missing = [
    ...(values.get("APERTURE_TOKEN") === undefined ? ["a secret in APERTURE_TOKEN"] : []),
    ...(values.get("APERTURE_ALLOW_REMOTE") === "1" ? [] : ["APERTURE_ALLOW_REMOTE=1"]),
  ];
  if (missing.length > 0) {
    problems.push(
      `${label} is ${host}, which other machines can reach. That needs ${missing.join(" and ")}.`,
    );
  }
  return { host, isRemote: true };
}

function readPort(values: SettingValues, problems: string[]): number {
  const text = values.get("APERTURE_PORT") ?? "4400";
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) {
    problems.push(`${values.label("APERTURE_PORT")} must be a whole number from 1 to 65535, not "${text}".`);
  }
  return port;
}

type ChoiceSetting<T extends string> = { readonly name: string; readonly choices: readonly T[] };

/** Reads one of a few words; the first is the default. */
function readChoice<T extends string>(
  values: SettingValues,
  problems: string[],
  { name, choices }: ChoiceSetting<T>,
): T {
  const [fallback] = choices;
  const text = values.get(name) ?? fallback;
  const choice = choices.find((one) => one === text);
  if (choice !== undefined) return choice;
  problems.push(`${values.label(name)} must be ${listOf(choices)}, not "${text}".`);
  return fallback as T;
}

function listOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function readToken(values: SettingValues, problems: string[]): string | undefined {
  const token = values.get("APERTURE_TOKEN");
  // The message does not repeat the value, because messages end up in logs.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const label = values.label("APERTURE_TOKEN");
    problems.push(`${label} may contain only visible ASCII characters and no spaces.`);
  }
  return token;
}

/** Names as clients send them, with the port unless it is the default one. Patterns are not allowed. */
function readAllowedHosts(values: SettingValues, problems: string[]): readonly string[] {
  const names = (values.get("APERTURE_ALLOWED_HOSTS") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const given = names.filter((name) => name !== "");
  for (const name of given) {
    if (/^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::[0-9]{1,5})?$/.test(name)) continue;
    const label = values.label("APERTURE_ALLOWED_HOSTS");
    problems.push(`${label} must contain names such as aperture.example:4400, not "${name}".`);
  }
  return given;
}

type OwnAddress = { readonly hosts: readonly string[]; readonly port: number };

function checkLoops({ named, ...builtIn }: UpstreamSettings, own: OwnAddress, problems: string[]): void {
  for (const [name, url] of [...Object.entries(builtIn), ...named]) {
    if (isOwnAddress(url, own)) problems.push(`The upstream ${name} is this very server, ${url.host}.`);
  }
}

function readDataDir(values: SettingValues, env: Environment, home: string): string {
  const own = values.get("APERTURE_DATA_DIR");
  if (own !== undefined) return own;
  const shared = valueIn(env, "XDG_DATA_HOME");
  // The XDG specification says that a relative path is ignored.
  return join(
    shared !== undefined && isAbsolute(shared) ? shared : join(home, ".local", "share"),
    "aperture",
  );
}
