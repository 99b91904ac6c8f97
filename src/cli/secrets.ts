import { createHash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Secrets = {
  /** What panel and API callers present. */
  readonly token: string;
  /** Keys the hash that stands for a credential, so that nobody can try keys against what is stored. */
  readonly credentialKey: Uint8Array;
  /** Where the token can be read by its owner; null where it could not be kept. */
  readonly tokenFile: string | null;
};

const tokenBytes = 32;

/**
 * The token of an installation is made once and kept for its owner alone. Without a place to keep it, it
 * lives as long as the process: everything works, but other programs cannot look it up.
 */
export function readSecrets(dataDir: string, chosen: string | undefined): Secrets {
  const made = () => randomBytes(tokenBytes).toString("hex");
  const key = kept(join(dataDir, "credential-key"), made);
  const credentialKey = createHash("sha256").update(key.text).digest();
  if (chosen !== undefined) return { token: chosen, credentialKey, tokenFile: null };
  const path = join(dataDir, "token");
  const token = kept(path, made);
  return { token: token.text, credentialKey, tokenFile: token.isKept ? path : null };
}

function kept(path: string, make: () => string): { readonly text: string; readonly isKept: boolean } {
  const found = textIn(path);
  if (found !== null) return { text: found, isKept: true };
  const text = make();
  try {
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx" });
    return { text, isKept: true };
  } catch {
    // Another process may have been quicker; then its text is the one.
    const theirs = textIn(path);
    return { text: theirs ?? text, isKept: theirs !== null };
  }
}

function textIn(path: string): string | null {
  try {
    const text = readFileSync(path, "utf8").trim();
    chmodSync(path, 0o600);
    return text.length >= 16 ? text : null;
  } catch {
    return null;
  }
}
