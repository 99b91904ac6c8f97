import type { StepId } from "../base/index.ts";
import { type CommandHistory, noCommands } from "../commands/index.ts";
import { nextStepId, type State } from "../engine/index.ts";
import type { CommandResult } from "../exchange/index.ts";
import { StreamRecall } from "./stream-recall.ts";

/** Recent results that are kept in case the same answer is read again. */
const resultsMax = 200;
/** A stream never has more requests than this open at once. */
const requestsMax = 64;
const noCounts = { commands: 0, changedTokens: 0 } as const;

/** Recent commands of a stream's model, for limits and damping, and its text index for recall. */
export class StreamActions {
  readonly recall = new StreamRecall();
  /** Null until the stream was searched for memories. */
  hasMemories: boolean | null = null;
  #history: CommandHistory = noCommands;
  /** Counts of the current turn by request: several requests may be answered at once. */
  readonly #countsByRequest = new Map<string, Pick<CommandHistory, "commands" | "changedTokens">>();
  readonly #results = new Map<string, CommandResult>();
  #step: { readonly request: string; readonly id: StepId } | null = null;

  /** The counts of a request continue over all rounds of its answer. */
  historyFor(request: string | null, turn: number): CommandHistory {
    if (request === null) return this.#history;
    return { ...this.#history, turn, ...(this.#countsByRequest.get(request) ?? noCounts) };
  }

  /** The result of a call that was executed before: no call is executed twice. */
  resultOf(request: string | null, call: string): CommandResult | null {
    return this.#results.get(JSON.stringify([request, call])) ?? null;
  }

  noteResult(request: string | null, result: CommandResult): void {
    this.#results.set(JSON.stringify([request, result.id]), result);
    const [oldest] = this.#results.keys();
    if (this.#results.size > resultsMax && oldest !== undefined) this.#results.delete(oldest);
  }

  noteHistory(request: string | null, history: CommandHistory): void {
    this.#history = history;
    if (request === null) return;
    const { commands, changedTokens } = history;
    this.#countsByRequest.set(request, { commands, changedTokens });
    const [oldest] = this.#countsByRequest.keys();
    if (this.#countsByRequest.size > requestsMax && oldest !== undefined)
      this.#countsByRequest.delete(oldest);
  }

  /** One step for all commands of one request, over all rounds of its answer: they are undone together. */
  stepOf(state: State, request: string): StepId {
    const known = this.#step?.request === request ? this.#step.id : null;
    const isOpen = known !== null && state.steps.get(known)?.log.value.done !== false;
    const id = isOpen ? known : nextStepId(state);
    this.#step = { request, id };
    return id;
  }
}
