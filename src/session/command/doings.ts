import type { StepId } from "../../base/index.ts";
import { type Acts, noActs } from "../../commands/index.ts";
import { nextStep, type State } from "../../engine/index.ts";
import type { CommandResult } from "../desk-port.ts";
import { StreamRecall } from "./stream-recall.ts";

/** What was told of late, in case the same answer is heard again. */
const toldMax = 200;
/** More are not answered at once in one stream. */
const countedMax = 64;
const nothingCounted = { commands: 0, changedTokens: 0 } as const;

/** What the model of a stream has done of late, for limits and damping, and what it finds again by words. */
export class Doings {
  readonly recall = new StreamRecall();
  /** Whether the stream has memories; null: nobody has looked yet. */
  hasMemories: boolean | null = null;
  #acts: Acts = noActs;
  /** What counts in a turn, by the request whose answer did it: several may be answered at once. */
  readonly #counted = new Map<string, Pick<Acts, "commands" | "changedTokens">>();
  readonly #told = new Map<string, CommandResult>();
  #step: { readonly request: string; readonly id: StepId } | null = null;

  /** What counts in a turn goes on counting while the answer to one request does, in however many rounds. */
  actsFor(request: string | null, turn: number): Acts {
    if (request === null) return this.#acts;
    return { ...this.#acts, turn, ...(this.#counted.get(request) ?? nothingCounted) };
  }

  /** What a call came to that was carried out before: nothing is done twice. */
  toldOf(request: string | null, call: string): CommandResult | null {
    return this.#told.get(JSON.stringify([request, call])) ?? null;
  }

  tell(request: string | null, result: CommandResult): void {
    this.#told.set(JSON.stringify([request, result.id]), result);
    const [oldest] = this.#told.keys();
    if (this.#told.size > toldMax && oldest !== undefined) this.#told.delete(oldest);
  }

  did(request: string | null, acts: Acts): void {
    this.#acts = acts;
    if (request === null) return;
    const { commands, changedTokens } = acts;
    this.#counted.set(request, { commands, changedTokens });
    const [oldest] = this.#counted.keys();
    if (this.#counted.size > countedMax && oldest !== undefined) this.#counted.delete(oldest);
  }

  /** All that the answer to one request does is undone together, however many rounds it takes. */
  stepOf(state: State, request: string): StepId {
    const known = this.#step?.request === request ? this.#step.id : null;
    const isOpen = known !== null && state.steps.get(known)?.log.value.done !== false;
    const id = isOpen ? known : nextStep(state);
    this.#step = { request, id };
    return id;
  }
}
