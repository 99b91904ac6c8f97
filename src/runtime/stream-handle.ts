import type { Priority } from "./activation.ts";
import type { Happening } from "./happening.ts";

type AroundOptions = Pick<Extract<Happening, { type: "around" }>, "during" | "trusted">;
type SaidOptions = Omit<Extract<Happening, { type: "said" }>, "type" | "stream" | "speaker" | "text">;

/** What a stream asks of its space. */
export type StreamPlace = {
  readonly happen: (happenings: readonly Happening[]) => Promise<void>;
  readonly activate: (asked: Omit<Extract<Happening, { type: "activate" }>, "type">) => Promise<void>;
  readonly fork: (parent: string, name: string) => StreamHandle;
};

/** One line of talk in a space, by its name. */
export class StreamHandle {
  readonly name: string;
  readonly #space: StreamPlace;

  constructor(space: StreamPlace, name: string) {
    this.#space = space;
    this.name = name;
  }

  say(speaker: string, text: string, options: SaidOptions = {}): Promise<void> {
    return this.#space.happen([{ type: "said", stream: this.name, speaker, text, ...options }]);
  }

  /** Told for good, to every agent in this stream. */
  tell(text: string): Promise<void> {
    return this.#space.happen([{ type: "told", stream: this.name, text }]);
  }

  /** What is around here: a file, a state. Null: it is there no longer. */
  around(name: string, text: string | null, options: AroundOptions = {}): Promise<void> {
    return this.#space.happen([{ type: "around", stream: this.name, name, text, ...options }]);
  }

  scope(name: string, open: boolean): Promise<void> {
    return this.#space.happen([{ type: "scope", stream: this.name, name, open }]);
  }

  activate(
    agent: string,
    options: { readonly priority?: Priority; readonly reason?: string } = {},
  ): Promise<void> {
    return this.#space.activate({ agent, stream: this.name, ...options });
  }

  fork(name: string): StreamHandle {
    return this.#space.fork(this.name, name);
  }
}
