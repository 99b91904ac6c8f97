import { createHash, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type AppSecrets = {
  /** The token of the panel and of API callers. */
  readonly token: string;
  /** The key of the hash that replaces a credential, so that keys cannot be tried against stored hashes. */
  readonly credentialKey: Uint8Array;
  /** The file that holds the token for its owner; null if it could not be written. */
  readonly tokenFile: string | null;
};

const tokenBytes = 32;

/**
 * Reads the token of this installation, or creates it for its owner alone. If it cannot be written, it lives
 * as long as the process: everything works, but other programs cannot look it up.
 */
export function readSecrets(dataDir: string, chosen: string | undefined): AppSecrets {
  const newSecret = () => randomBytes(tokenBytes).toString("hex");
  const key = readOrCreate(join(dataDir, "credential-key"), newSecret);
  const credentialKey = createHash("sha256").update(key.text).digest();
  if (chosen !== undefined) return { token: chosen, credentialKey, tokenFile: null };
  const path = join(dataDir, "token");
  const token = readOrCreate(path, newSecret);
  return { token: token.text, credentialKey, tokenFile: token.isStored ? path : null };
}

function readOrCreate(
  path: string,
  make: () => string,
): { readonly text: string; readonly isStored: boolean } {
  const found = readSecretFile(path);
  if (found !== null) return { text: found, isStored: true };
  const text = make();
  try {
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx" });
    return { text, isStored: true };
  } catch {
    // Another process may have written it first; then its text counts.
    const theirs = readSecretFile(path);
    return { text: theirs ?? text, isStored: theirs !== null };
  }
}

function readSecretFile(path: string): string | null {
  try {
    const text = readFileSync(path, "utf8").trim();
    chmodSync(path, 0o600);
    return text.length >= 16 ? text : null;
  } catch {
    return null;
  }
}
