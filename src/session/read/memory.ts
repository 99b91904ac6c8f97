import { limits } from "../../base/index.ts";
import type { Library } from "./questions.ts";
import type { SessionRow } from "./rows.ts";

/** What never changes once it is known: when a frame was written, and how a session looked at its seq. */
export type Memory = {
  readonly times: Remembered<number>;
  readonly rows: Remembered<SessionRow>;
};

/** One value per session, with the seq it belongs to. */
export class Remembered<T> {
  readonly #values = new Map<string, { readonly seq: number; readonly value: T }>();

  get(session: string, seq: number): T | null {
    const found = this.#values.get(session);
    return found?.seq === seq ? found.value : null;
  }

  set(session: string, seq: number, value: T): void {
    // Taken out first, so that it stands last: the one that was set longest ago is forgotten.
    this.#values.delete(session);
    this.#values.set(session, { seq, value });
    const [oldest] = this.#values.keys();
    if (this.#values.size > limits.rowsRememberedMax && oldest !== undefined) this.#values.delete(oldest);
  }
}

const memories = new WeakMap<Library, Memory>();

export function memoryOf(library: Library): Memory {
  const known = memories.get(library);
  if (known !== undefined) return known;
  const memory = { times: new Remembered<number>(), rows: new Remembered<SessionRow>() };
  memories.set(library, memory);
  return memory;
}
