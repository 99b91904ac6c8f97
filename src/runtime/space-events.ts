import type { Frame } from "../engine/frames/index.ts";

/** An event that a program can listen to with `space.on`. */
export type SpaceEvent =
  | { readonly type: "frame"; readonly frame: Frame }
  /** A complete message of a person or an agent. */
  | {
      readonly type: "said";
      readonly stream: string;
      readonly speaker: string;
      readonly text: string;
      readonly block: number;
    }
  /** A piece of an agent's answer, as it arrives. */
  | { readonly type: "heard"; readonly stream: string; readonly agent: string; readonly text: string }
  /** The pieces of the answer so far are void: it broke off and is asked for again. */
  | { readonly type: "anew"; readonly stream: string; readonly agent: string }
  | {
      readonly type: "tool";
      readonly stream: string;
      readonly agent: string;
      readonly tool: string;
      readonly is: "started" | "done" | "failed";
    }
  /** A command of an agent waits for approval, or no longer does. */
  | {
      readonly type: "approval";
      readonly stream: string;
      readonly agent: string;
      readonly approval: number;
      readonly is: "waiting" | "approved" | "denied" | "expired";
      readonly command: string;
      /** Why the command needs an approval. */
      readonly why: string;
    }
  /** Something went wrong, and the people in the stream should know. */
  | { readonly type: "notice"; readonly stream: string; readonly text: string }
  | {
      readonly type: "finished";
      readonly stream: string;
      readonly agent: string;
      readonly is: "done" | "failed" | "cancelled";
    };

export type EventOf<T extends SpaceEvent["type"]> = Extract<SpaceEvent, { type: T }>;
type SpaceListener = (event: SpaceEvent) => void;

/** Passes events to listeners. A listener that throws does not keep the event from the others. */
export class SpaceEvents {
  readonly #listeners = new Map<string, Set<SpaceListener>>();

  on<T extends SpaceEvent["type"]>(type: T, listener: (event: EventOf<T>) => void): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    listeners.add(listener as SpaceListener);
    return () => void listeners.delete(listener as SpaceListener);
  }

  emit(event: SpaceEvent): void {
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
