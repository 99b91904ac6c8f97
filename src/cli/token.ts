import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Settings } from "../config/index.ts";

export type FoundToken = {
  readonly token: string | null;
  /** For messages: where it came from, or where it was looked for. */
  readonly from: string;
};

export function tokenFileOf({ dataDir }: Pick<Settings, "dataDir">): string {
  return join(resolve(dataDir), "token");
}

export function findToken(settings: Pick<Settings, "dataDir" | "token">): FoundToken {
  if (settings.token !== undefined) return { token: settings.token, from: "APERTURE_TOKEN" };
  const path = tokenFileOf(settings);
  try {
    const text = readFileSync(path, "utf8").trim();
    // What cannot stand in a header is no token of ours.
    return { token: /^[\x21-\x7e]+$/.test(text) ? text : null, from: path };
  } catch {
    return { token: null, from: path };
  }
}
