import type { Frame } from "../engine/index.ts";

/** What a program around a space may want to hear of. */
export type SpaceEvent =
  | { readonly type: "frame"; readonly frame: Frame }
  /** Somebody said something: a person, or an agent that has finished saying it. */
  | {
      readonly type: "said";
      readonly stream: string;
      readonly speaker: string;
      readonly text: string;
      readonly block: number;
    }
  /** A piece of what an agent is saying, as it comes. */
  | { readonly type: "heard"; readonly stream: string; readonly agent: string; readonly text: string }
  /** What was heard of an answer so far is void: it broke off, and the agent begins again. */
  | { readonly type: "anew"; readonly stream: string; readonly agent: string }
  | {
      readonly type: "tool";
      readonly stream: string;
      readonly agent: string;
      readonly tool: string;
      readonly is: "started" | "done" | "failed";
    }
  /** A command of an agent waits for somebody's word, or does not any more. */
  | {
      readonly type: "approval";
      readonly stream: string;
      readonly agent: string;
      readonly approval: number;
      readonly is: "waiting" | "approved" | "denied" | "expired";
      /** What it wants to do, and why it was not simply done. */
      readonly command: string;
      readonly why: string;
    }
  /** Something went wrong that the people in a stream should know of. */
  | { readonly type: "notice"; readonly stream: string; readonly text: string }
  | {
      readonly type: "finished";
      readonly stream: string;
      readonly agent: string;
      readonly is: "done" | "failed" | "cancelled";
    };

export type EventOf<T extends SpaceEvent["type"]> = Extract<SpaceEvent, { type: T }>;
type Listener = (event: SpaceEvent) => void;

/** Tells listeners, each on its own: one that throws keeps nobody from hearing. */
export class Events {
  readonly #listeners = new Map<string, Set<Listener>>();

  on<T extends SpaceEvent["type"]>(type: T, listener: (event: EventOf<T>) => void): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    listeners.add(listener as Listener);
    return () => void listeners.delete(listener as Listener);
  }

  tell(event: SpaceEvent): void {
    for (const listener of this.#listeners.get(event.type) ?? []) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
