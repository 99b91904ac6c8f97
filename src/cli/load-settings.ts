import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  configPathOf,
  type Environment,
  fileValues,
  readSettings,
  type SettingsResult,
} from "../config/index.ts";
import type { Flags } from "./args/arguments.ts";
import { errorCode } from "./outcome.ts";

/** The variable that each flag overrides. */
const variables = {
  port: "APERTURE_PORT",
  host: "APERTURE_HOST",
  "data-dir": "APERTURE_DATA_DIR",
  mode: "APERTURE_MODE",
} as const;

/** The environment with the flags applied, so that all settings are read in one way. */
export function environmentWith(env: Environment, flags: Flags): Environment {
  const given = Object.entries(variables).flatMap(([flag, name]) => {
    const value = flags.get(flag);
    return value === undefined ? [] : [[name, value] as const];
  });
  // A relative path on the command line means the current folder. In a variable it is refused.
  const config = flags.get("config");
  const chosen = config === undefined ? {} : { APERTURE_CONFIG: resolve(config) };
  return { ...env, ...Object.fromEntries(given), ...chosen };
}

export type SettingsSource = { readonly env: Environment; readonly home: string };

export function loadSettings({ env, home }: SettingsSource): SettingsResult {
  const path = configPathOf(env, home);
  const config = path === null ? null : readConfigText(path);
  if (config instanceof Error) {
    return { ok: false, problems: [`The config file ${path} cannot be read: ${config.message}.`] };
  }
  // The default file may be missing; a file that the user names must exist.
  const isNamed = (env["APERTURE_CONFIG"] ?? "").trim() !== "";
  if (config === null && path !== null && isNamed) {
    return {
      ok: false,
      problems: [`There is no config file ${path}. Check --config or APERTURE_CONFIG, or create the file.`],
    };
  }
  return readSettings(env, home, config);
}

/** The values in the config file by the names of their variables; empty if the file cannot be read. */
export function configFileValues({ env, home }: SettingsSource): Environment {
  const path = configPathOf(env, home);
  const text = path === null ? null : readConfigText(path);
  return typeof text === "string" ? fileValues(text) : {};
}

/** Null if there is no such file, which is the usual case. */
export function readConfigText(path: string): string | null | Error {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? null : new Error(code);
  }
}
