import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;
type Around = { readonly env: Environment; readonly home: string };
export type QuickPlace = {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly token?: string;
};

/**
 * Where Aperture is, and nothing else of the settings: reading and judging all of them takes longer than the
 * rest of a status line. A test holds it to what the settings say. Null: it cannot be told.
 */
export function quickPlace({ env, home }: Around): QuickPlace | null {
  const file = fileValues({ env, home });
  const value = (name: string, key: string) => set(env[name]) ?? set(file[key]);
  const port = Number(value("APERTURE_PORT", "port") ?? 4400);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return null;
  const host = (value("APERTURE_HOST", "host") ?? "127.0.0.1").toLowerCase().replace(/^\[(.*)\]$/, "$1");
  const dataDir =
    value("APERTURE_DATA_DIR", "dataDir") ?? join(shared(env["XDG_DATA_HOME"], home, dataPath), "aperture");
  const token = value("APERTURE_TOKEN", "token");
  return { host, port, dataDir, ...(token === undefined ? {} : { token }) };
}

const dataPath = [".local", "share"] as const;

function fileValues({ env, home }: Around): Environment {
  const own = set(env["APERTURE_CONFIG"]);
  const path = own ?? join(shared(env["XDG_CONFIG_HOME"], home, [".config"]), "aperture", "config.json");
  if (!isAbsolute(path)) return {};
  try {
    const fields = JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, "")) as Readonly<
      Record<string, unknown>
    >;
    const written = Object.entries(fields).filter(([, value]) => ["string", "number"].includes(typeof value));
    return Object.fromEntries(written.map(([name, value]) => [name, `${value}`]));
  } catch {
    return {};
  }
}

function shared(given: string | undefined, home: string, usual: readonly string[]): string {
  const folder = set(given);
  return folder !== undefined && isAbsolute(folder) ? folder : join(home, ...usual);
}

/** An empty variable counts as unset. */
function set(value: string | undefined): string | undefined {
  const text = value?.trim();
  return text === "" ? undefined : text;
}
