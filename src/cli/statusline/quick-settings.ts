import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Environment } from "../../config/index.ts";

type QuickSettingsInput = { readonly env: Environment; readonly home: string };
export type QuickSettings = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly token?: string;
};

/**
 * Reads only the settings that locate Aperture: reading and checking all of them takes longer than the rest
 * of a status line. A test compares the result with the full settings. Null if the port is invalid.
 */
export function readQuickSettings({ env, home }: QuickSettingsInput): QuickSettings | null {
  const file = configValues({ env, home });
  const value = (name: string, key: string) => nonEmpty(env[name]) ?? nonEmpty(file[key]);
  const port = Number(value("APERTURE_PORT", "port") ?? 4400);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return null;
  const host = (value("APERTURE_HOST", "host") ?? "127.0.0.1").toLowerCase().replace(/^\[(.*)\]$/, "$1");
  const dataDir =
    value("APERTURE_DATA_DIR", "dataDir") ??
    join(xdgFolderOf(env["XDG_DATA_HOME"], home, dataPath), "aperture");
  const token = value("APERTURE_TOKEN", "token");
  return { host, port, dataDir, ...(token === undefined ? {} : { token }) };
}

const dataPath = [".local", "share"] as const;

function configValues({ env, home }: QuickSettingsInput): Environment {
  const own = nonEmpty(env["APERTURE_CONFIG"]);
  const path = own ?? join(xdgFolderOf(env["XDG_CONFIG_HOME"], home, [".config"]), "aperture", "config.json");
  if (!isAbsolute(path)) return {};
  try {
    const fields = JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, "")) as Readonly<
      Record<string, unknown>
    >;
    const values = Object.entries(fields).filter(([, value]) => ["string", "number"].includes(typeof value));
    return Object.fromEntries(values.map(([name, value]) => [name, `${value}`]));
  } catch {
    return {};
  }
}

function xdgFolderOf(given: string | undefined, home: string, fallback: readonly string[]): string {
  const folder = nonEmpty(given);
  return folder !== undefined && isAbsolute(folder) ? folder : join(home, ...fallback);
}

/** An empty variable counts as unset. */
function nonEmpty(value: string | undefined): string | undefined {
  const text = value?.trim();
  return text === "" ? undefined : text;
}
