import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  configPathOf,
  type Environment,
  fileValues,
  readSettings,
  type SettingsResult,
} from "../config/index.ts";
import type { Flags } from "./arguments.ts";

/** Which variable a flag stands above. */
const variables = {
  port: "APERTURE_PORT",
  host: "APERTURE_HOST",
  "data-dir": "APERTURE_DATA_DIR",
  mode: "APERTURE_MODE",
} as const;

/** The environment as it is with the flags: everything that reads settings reads them in one way. */
export function environmentWith(env: Environment, flags: Flags): Environment {
  const given = Object.entries(variables).flatMap(([flag, name]) => {
    const value = flags.get(flag);
    return value === undefined ? [] : [[name, value] as const];
  });
  // Whoever writes it on the command line means this folder, which a variable must not.
  const config = flags.get("config");
  const chosen = config === undefined ? {} : { APERTURE_CONFIG: resolve(config) };
  return { ...env, ...Object.fromEntries(given), ...chosen };
}

export type Places = { readonly env: Environment; readonly home: string };

/** Settings from the environment and the config file of this user. */
export function loadSettings({ env, home }: Places): SettingsResult {
  const path = configPathOf(env, home);
  const config = path === null ? null : configTextAt(path);
  if (config instanceof Error) {
    return { ok: false, problems: [`The config file ${path} cannot be read: ${config.message}.`] };
  }
  return readSettings(env, home, config);
}

/** What the config file says, under the names of the variables; nothing where it cannot be read. */
export function valuesNow({ env, home }: Places): { readonly ofFile: Environment } {
  const path = configPathOf(env, home);
  const text = path === null ? null : configTextAt(path);
  return { ofFile: typeof text === "string" ? fileValues(text) : {} };
}

/** Null where there is no such file, which is the usual case. */
export function configTextAt(path: string): string | null | Error {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `${error.code}` : "unknown error";
    return code === "ENOENT" || code === "ENOTDIR" ? null : new Error(code);
  }
}
