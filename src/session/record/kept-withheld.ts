import { readFileSync } from "node:fs";
import { keepFile } from "../kept-file.ts";
import type { TextPrint } from "../text-print.ts";
import type { WithheldSession, WithheldUnit } from "../withheld-session.ts";

/** Beside the database. */
export const withheldFile = "withheld.json";

/**
 * What is withheld, in a file of its own: the next process has to know it with its first request, before the
 * log can be asked. It holds no content, only what recognises it.
 */
export class KeptWithheld {
  readonly #path: string;
  readonly #sessions: Map<string, WithheldSession>;

  constructor(path: string) {
    this.#path = path;
    this.#sessions = new Map(readWithheld(path).map((one) => [one.session, one]));
  }

  /** As it is from now on. What was purged cannot be printed again, so that its print is kept. */
  keep(told: WithheldSession): WithheldSession {
    const before = this.#sessions.get(told.session)?.units ?? [];
    const prints = new Map(before.map(({ key, print }) => [key, print]));
    const units = told.units.map(({ key, print }) => ({ key, print: print ?? prints.get(key) ?? null }));
    const kept = { ...told, units };
    if (JSON.stringify(units) === JSON.stringify(before)) return kept;
    if (units.length === 0) this.#sessions.delete(told.session);
    else this.#sessions.set(told.session, kept);
    // A folder that cannot be written is told of by the store; the log has it, and tells it again.
    keepFile(this.#path, `${JSON.stringify({ withheld: [...this.#sessions.values()] })}\n`);
    return kept;
  }
}

/** Nothing where there is no such file, or one that makes no sense: the log is read again at every start. */
export function readWithheld(path: string): readonly WithheldSession[] {
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

function isPrint(print: TextPrint | undefined): boolean {
  const { chars, sum, hash } = print ?? {};
  return Number.isSafeInteger(chars) && (chars ?? 0) > 0 && Number.isInteger(sum) && typeof hash === "string";
}
