import { isAbsolute, join } from "node:path";

/** The environment as a value: tests and embedders pass their own, nothing here reads the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type Mode = "observe" | "ask" | "auto";

export type Settings = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly mode: Mode;
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

const modes: readonly Mode[] = ["observe", "ask", "auto"];

/** What `docs/reference/settings.md` must describe, heading by heading. */
export const settingsTable: readonly SettingRow[] = [
  { name: "APERTURE_PORT", defaultText: "4400", meaning: "the port to listen on" },
  { name: "APERTURE_HOST", defaultText: "127.0.0.1", meaning: "the address to listen on; loopback only" },
  {
    name: "APERTURE_DATA_DIR",
    defaultText: "$XDG_DATA_HOME/aperture, else ~/.local/share/aperture",
    meaning: "where sessions are kept",
  },
  { name: "APERTURE_MODE", defaultText: "auto", meaning: "observe, ask or auto" },
  { name: "APERTURE_TOKEN", defaultText: "none", meaning: "the secret that panel and API callers present" },
];

/** Reports every problem at once: fixing settings one restart at a time is a nuisance. */
export function readSettings(env: Environment, home: string): SettingsResult {
  const problems: string[] = [];
  const host = readHost(env, problems);
  const port = readPort(env, problems);
  const mode = readMode(env, problems);
  const token = readToken(env, problems);
  if (problems.length > 0) return { ok: false, problems };
  const settings = { host, port, mode, dataDir: readDataDir(env, home) };
  return { ok: true, settings: token === undefined ? settings : { ...settings, token } };
}

/** Where Aperture may listen. Anything else is open to others, and needs more than an address. */
export const loopbackHosts: readonly string[] = ["127.0.0.1", "::1", "localhost"];

function readHost(env: Environment, problems: string[]): string {
  const text = (valueIn(env, "APERTURE_HOST") ?? "127.0.0.1").toLowerCase().replace(/^\[(.*)\]$/, "$1");
  if (!loopbackHosts.includes(text)) {
    problems.push(
      `APERTURE_HOST must be one of ${loopbackHosts.join(", ")}, not "${text}": listening elsewhere will need ` +
        "a token and an explicit flag, which this version does not have yet.",
    );
  }
  return text;
}

function readPort(env: Environment, problems: string[]): number {
  const text = valueIn(env, "APERTURE_PORT") ?? "4400";
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) {
    problems.push(`APERTURE_PORT must be a whole number from 1 to 65535, not "${text}".`);
  }
  return port;
}

function readMode(env: Environment, problems: string[]): Mode {
  const text = valueIn(env, "APERTURE_MODE") ?? "auto";
  const mode = modes.find((name) => name === text);
  if (mode === undefined) problems.push(`APERTURE_MODE must be observe, ask or auto, not "${text}".`);
  return mode ?? "auto";
}

function readToken(env: Environment, problems: string[]): string | undefined {
  const token = valueIn(env, "APERTURE_TOKEN");
  // The value itself stays out of the message: messages end up in logs.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    problems.push("APERTURE_TOKEN may contain only visible ASCII characters, and no spaces.");
  }
  return token;
}

function readDataDir(env: Environment, home: string): string {
  const own = valueIn(env, "APERTURE_DATA_DIR");
  if (own !== undefined) return own;
  const shared = valueIn(env, "XDG_DATA_HOME");
  // The XDG rules say that a relative path is to be ignored.
  return join(
    shared !== undefined && isAbsolute(shared) ? shared : join(home, ".local", "share"),
    "aperture",
  );
}

/** An empty variable counts as unset: `APERTURE_PORT= npm start` means "the default", as in most tools. */
function valueIn(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}
