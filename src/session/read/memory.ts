import { limits } from "../../base/index.ts";
import type { Library } from "./questions.ts";
import type { SessionRow, StateRow } from "./rows.ts";

/** What never changes once it is known: when a frame was written, and how a session looked at a seq. */
export type Memory = {
  readonly times: Remembered<number>;
  readonly rows: Remembered<SessionRow>;
  /** By the exchange that said it: tokens left for the answer, 0 where nothing is said. */
  readonly reserved: Remembered<number>;
  /** By everything they are made from. */
  readonly states: Recent<StateRow>;
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

/** The few values that were set last. */
export class Recent<T> {
  readonly #values = new Map<string, T>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): T | null {
    return this.#values.get(key) ?? null;
  }

  set(key: string, value: T): void {
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#max && oldest !== undefined) this.#values.delete(oldest);
  }
}

const memories = new WeakMap<Library, Memory>();

export function memoryOf(library: Library): Memory {
  const known = memories.get(library);
  if (known !== undefined) return known;
  const memory = {
    times: new Remembered<number>(),
    rows: new Remembered<SessionRow>(),
    reserved: new Remembered<number>(),
    states: new Recent<StateRow>(limits.statesRememberedMax),
  };
  memories.set(library, memory);
  return memory;
}
