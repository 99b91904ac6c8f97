import type { Clock } from "../../base/index.ts";
import type { CommandBatch, CommandCall, CommandResult, PlannedRequest } from "../../exchange/index.ts";
import {
  callKey,
  isTaintedBy,
  type LedgerNode,
  lineCommands,
  ownCallsIn,
  type SentPath,
  type StreamLedger,
  unitsReadInTurn,
} from "../../ledger/index.ts";
import type { AnswerUnit } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";
import type { ReceivedRequest } from "./read-request.ts";

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

type RoundAnswer = {
  readonly stream: LiveStream;
  readonly received: ReceivedRequest;
  readonly path: SentPath | null;
  readonly rounds: number;
  readonly units: readonly AnswerUnit[];
  /** The last node of the request it answers. */
  readonly leaf: LedgerNode | null;
  /** When the first round began; null if there was none. */
  readonly firstRoundMs: number | null;
  /** Output tokens of all answers so far. */
  readonly answerTokens: number;
  /** The last node of the answer. */
  readonly end: LedgerNode;
};

/** An answer whose calls of our tools are being executed; a round follows it. */
export type CommandRound = Omit<RoundAnswer, "units" | "path"> & {
  readonly path: SentPath;
  /** The ledger of the stream and its withheld content when the answer came. */
  readonly ledger: StreamLedger;
  readonly withheld: LiveStream["withheld"];
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

  start(planned: PlannedRequest, { units, path, ...answer }: RoundAnswer): void {
    if (path === null) return;
    const { stream, rounds } = answer;
    const { nonce } = stream;
    const lineCalls = path.head.hasTextCommands ? lineCommands(answer.end, nonce) : [];
    const toolCalls = path.head.ownTools.length > 0 ? ownCallsIn(units) : [];
    const calls = [...toolCalls, ...lineCalls.map(({ id, name, input }) => ({ id, name, input }))];
    if (calls.length === 0) return;
    const isTainted = isTaintedBy(unitsReadInTurn(answer.leaf, units), nonce);
    const { requestId } = planned;
    const batch: CommandBatch = { requestId, calls, nonce, mode: this.#deps.mode(), isTainted };
    const parentId = answer.leaf?.sent?.id ?? "";
    const done = withTimeout(
      this.#runCommands(stream, batch, parentId),
      this.#deps.commandMs ?? usualCommandMs,
    );
    const nowMs = this.#deps.clock.now();
    const firstRoundMs = answer.firstRoundMs ?? nowMs;
    if (rounds >= roundsMax || nowMs - firstRoundMs > roundsMs) return;
    const { ledger, withheld } = stream;
    const received = withBodyCopy(answer.received);
    this.#open.set(planned, { ...answer, path, firstRoundMs, ledger, withheld, done, received });
  }

  /** Returns the round of a planned request the first time it is called. */
  take(planned: PlannedRequest): CommandRound | null {
    const round = this.#open.get(planned) ?? null;
    this.#open.delete(planned);
    return round;
  }

  #runCommands(stream: LiveStream, batch: CommandBatch, parentId: string): Promise<void> {
    const others = stream.runningCommands;
    const done = this.#storeResults(stream, batch, parentId);
    // Commands of several concurrent answers are awaited together.
    const running = Promise.all([others, done]).then(() => {
      if (stream.runningCommands === running) stream.runningCommands = null;
    });
    stream.runningCommands = running;
    return done;
  }

  /** `parentId` is the last node of the request; without it, calls of two answers could have the same id. */
  async #storeResults({ commandResults }: LiveStream, batch: CommandBatch, parentId: string): Promise<void> {
    const results = await this.#deps.runCommands(batch).catch(() => batch.calls.map(failedResult));
    for (const result of results) commandResults.set(callKey({ id: result.id, beforeId: parentId }), result);
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

/** Copies the body: its memory is reused once the answer is over. */
function withBodyCopy(received: ReceivedRequest): ReceivedRequest {
  const body = Buffer.from(received.body);
  return { ...received, body, request: { ...received.request, bytes: body } };
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
