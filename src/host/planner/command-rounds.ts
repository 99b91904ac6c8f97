import type { Clock } from "../../base/index.ts";
import type { CommandBatch, CommandCall, CommandResult, PlannedRequest } from "../../exchange/index.ts";
import {
  type AnswerCommands,
  callKey,
  commandsOf,
  type NodeIndex,
  type SentPath,
  type WithheldContent,
} from "../../ledger/index.ts";
import type { AnswerUnit } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";
import type { InFlightRequest } from "./planned-request.ts";
import { type Request, withBodyCopy } from "./read-request.ts";

export type CommandRoundDeps = {
  readonly clock: Clock;
  readonly mode: () => CommandBatch["mode"];
  /** How long a round waits for its commands. */
  readonly commandMs?: number;
  readonly runCommands: (batch: CommandBatch) => Promise<readonly CommandResult[]>;
};

/** Limits of the rounds for one client request; commands after that are answered with the next request. */
const roundsMax = 4;
const roundsMs = 60_000;
/** Longer than it takes to replace a stuck engine thread. */
const usualCommandMs = 30_000;
/** Results kept per stream: a client may go back and send the calls again. */
const resultsMax = 1_000;

/** A whole answer that was added to its ledger. */
export type RoundAnswer = InFlightRequest & {
  readonly path: SentPath;
  /** The last node of the request it answers. */
  readonly leaf: NodeIndex;
  /** The last node of the answer. */
  readonly end: NodeIndex;
  readonly units: readonly AnswerUnit[];
};

/** An answer whose calls of our tools are being executed; a round follows it. */
export type CommandRound = {
  readonly live: LiveStream;
  readonly request: Request;
  readonly path: SentPath;
  readonly end: NodeIndex;
  readonly rounds: number;
  readonly firstRoundMs: number;
  /** Output tokens of all answers so far. */
  readonly answerTokens: number;
  /** The resets of the ledger and its withheld content when the answer came. */
  readonly resets: number;
  readonly withheld: WithheldContent;
  /** Resolves when all commands were executed, or their time is up. */
  readonly done: Promise<void>;
};

/**
 * Executes the calls of our tools as soon as an answer has them, and keeps the results until they are sent.
 */
export class CommandRounds {
  readonly #deps: CommandRoundDeps;
  readonly #open = new WeakMap<PlannedRequest, CommandRound>();

  constructor(deps: CommandRoundDeps) {
    this.#deps = deps;
  }

  start(planned: PlannedRequest, answer: RoundAnswer): void {
    const { live, request, path, end, rounds, answerTokens } = answer;
    const { ledger, wishes } = live;
    const commands = commandsOf(ledger, answer);
    if (commands === null) return;
    const work = this.#runCommands(live, planned, commands);
    const done = withTimeout(work, this.#deps.commandMs ?? usualCommandMs);
    const nowMs = this.#deps.clock.now();
    const firstRoundMs = answer.firstRoundMs ?? nowMs;
    if (rounds >= roundsMax || nowMs - firstRoundMs > roundsMs) return;
    const then = { resets: ledger.resets, withheld: wishes.withheld, done };
    const copied = withBodyCopy(request);
    const round = { live, request: copied, path, end, rounds, firstRoundMs, answerTokens, ...then };
    this.#open.set(planned, round);
  }

  /** Returns the round of a planned request the first time it is called. */
  take(planned: PlannedRequest): CommandRound | null {
    const round = this.#open.get(planned) ?? null;
    this.#open.delete(planned);
    return round;
  }

  #runCommands(live: LiveStream, { requestId }: PlannedRequest, commands: AnswerCommands): Promise<void> {
    const { calls, isTainted, beforeId } = commands;
    const { nonce } = live.ledger;
    const batch: CommandBatch = { requestId, calls, nonce, mode: this.#deps.mode(), isTainted };
    const others = live.runningCommands;
    const done = this.#storeResults(live, batch, beforeId);
    // Commands of several concurrent answers are awaited together.
    const running = Promise.all([others, done]).then(() => {
      if (live.runningCommands === running) live.runningCommands = null;
    });
    live.runningCommands = running;
    return done;
  }

  async #storeResults({ commandResults }: LiveStream, batch: CommandBatch, beforeId: string): Promise<void> {
    const results = await this.#deps.runCommands(batch).catch(() => batch.calls.map(failedResult));
    for (const result of results) commandResults.set(callKey({ id: result.id, beforeId }), result);
    const tooMany = Math.max(0, commandResults.size - resultsMax);
    for (const key of [...commandResults.keys()].slice(0, tooMany)) commandResults.delete(key);
  }
}

/** Resolves when the work is done or the time is up. */
async function withTimeout(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

function failedResult({ id }: CommandCall): CommandResult {
  const text = "Aperture could not carry this out: its records cannot be reached. Go on without it.";
  return { id, text, isError: true };
}

/** Lets a request wait a moment for our commands: a client may answer its own calls before ours are done. */
export function waitForCommands(running: Promise<void>, ms: number = soonMs): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([running, late]).finally(() => clearTimeout(timer));
}

const soonMs = 250;
