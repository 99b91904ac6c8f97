import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Settings } from "../../config/index.ts";

export type TokenLookup = {
  readonly token: string | null;
  /** The source of the token, or the place where it was looked for, for messages. */
  readonly from: string;
};

export function tokenFileOf({ dataDir }: Pick<Settings, "dataDir">): string {
  return join(resolve(dataDir), "token");
}

export function findToken(settings: Pick<Settings, "dataDir" | "token">): TokenLookup {
  if (settings.token !== undefined) return { token: settings.token, from: "APERTURE_TOKEN" };
  const path = tokenFileOf(settings);
  try {
    const text = readFileSync(path, "utf8").trim();
    // Aperture's own token is valid in a header; anything else is not a token.
    return { token: /^[\x21-\x7e]+$/.test(text) ? text : null, from: path };
  } catch {
    return { token: null, from: path };
  }
}
