import type { Priority } from "./activation.ts";
import type { SpaceInput } from "./space-input.ts";

type AroundOptions = Pick<Extract<SpaceInput, { type: "around" }>, "during" | "trusted">;
type SayOptions = Omit<Extract<SpaceInput, { type: "said" }>, "type" | "stream" | "speaker" | "text">;

export type StreamHandleDeps = {
  readonly record: (inputs: readonly SpaceInput[]) => Promise<void>;
  readonly activate: (input: Omit<Extract<SpaceInput, { type: "activate" }>, "type">) => Promise<void>;
  readonly fork: (parent: string, name: string) => StreamHandle;
};

/** A stream of a space, by its name. */
export class StreamHandle {
  readonly name: string;
  readonly #space: StreamHandleDeps;

  constructor(space: StreamHandleDeps, name: string) {
    this.#space = space;
    this.name = name;
  }

  say(speaker: string, text: string, options: SayOptions = {}): Promise<void> {
    return this.#space.record([{ type: "said", stream: this.name, speaker, text, ...options }]);
  }

  /** Adds a system text for every agent in this stream. */
  tell(text: string): Promise<void> {
    return this.#space.record([{ type: "told", stream: this.name, text }]);
  }

  /** Shows agents the present state of something, such as an open file. Null removes it. */
  around(name: string, text: string | null, options: AroundOptions = {}): Promise<void> {
    return this.#space.record([{ type: "around", stream: this.name, name, text, ...options }]);
  }

  scope(name: string, open: boolean): Promise<void> {
    return this.#space.record([{ type: "scope", stream: this.name, name, open }]);
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
