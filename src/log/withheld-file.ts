import { readFileSync } from "node:fs";
import type { TextFingerprint, WithheldSession, WithheldUnit } from "../exchange/index.ts";
import { writeFileAtomically } from "./atomic-file.ts";

/** The file lies beside the database. */
export const withheldFileName = "withheld.json";

/**
 * Keeps the withheld units of every session in a small file: the next process needs them with its first
 * request, before the log is read. The file holds no content, only keys and fingerprints.
 */
export class WithheldFile {
  readonly #path: string;
  readonly #sessions: Map<string, WithheldSession>;

  constructor(path: string) {
    this.#path = path;
    this.#sessions = new Map(readWithheldFile(path).map((one) => [one.session, one]));
  }

  /**
   * Replaces the withheld units of a session. A purged text cannot be fingerprinted again, so its old
   * fingerprint is kept.
   */
  save(session: WithheldSession): WithheldSession {
    const before = this.#sessions.get(session.session)?.units ?? [];
    const prints = new Map(before.map(({ key, print }) => [key, print]));
    const units = session.units.map(({ key, print }) => ({ key, print: print ?? prints.get(key) ?? null }));
    const saved = { ...session, units };
    if (JSON.stringify(units) === JSON.stringify(before)) return saved;
    if (units.length === 0) this.#sessions.delete(session.session);
    else this.#sessions.set(session.session, saved);
    // A write may fail: the store reports a folder it cannot write, and the log reports the units again.
    writeFileAtomically(this.#path, `${JSON.stringify({ withheld: [...this.#sessions.values()] })}\n`);
    return saved;
  }
}

/** Empty if the file is missing or unreadable: the log is read again at every start. */
export function readWithheldFile(path: string): readonly WithheldSession[] {
  try {
    const { withheld } = JSON.parse(readFileSync(path, "utf8")) as { readonly withheld?: unknown };
    return Array.isArray(withheld) ? withheld.filter(isSession) : [];
  } catch {
    return [];
  }
}

function isSession(value: unknown): value is WithheldSession {
  if (typeof value !== "object" || value === null) return false;
  const { session, owner, upstream, client, name, units } = value as Partial<WithheldSession>;
  const isNamed = name === null || typeof name === "string";
  const isWhose = [session, owner, upstream, client].every((one) => typeof one === "string");
  return isNamed && isWhose && Array.isArray(units) && units.every(isUnit);
}

function isUnit(value: unknown): value is WithheldUnit {
  if (typeof value !== "object" || value === null) return false;
  const { key, print } = value as Partial<WithheldUnit>;
  return typeof key === "string" && (print === null || isPrint(print));
}

function isPrint(print: TextFingerprint | undefined): boolean {
  const { chars, sum, hash } = print ?? {};
  return Number.isSafeInteger(chars) && (chars ?? 0) > 0 && Number.isInteger(sum) && typeof hash === "string";
}
