import type { Clock } from "../../base/index.ts";
import type { AnswerUnit } from "../../protocols/index.ts";
import type { CommandResult, CommandsAsked, Sending } from "../desk-port.ts";
import type { Line } from "./line.ts";
import { callKey, type OwnCall, ownCallsIn } from "./own-calls.ts";
import { lineCalls } from "./own-texts.ts";
import type { Place } from "./place.ts";
import type { Read } from "./read-request.ts";
import type { SentPath } from "./rendering.ts";
import type { StreamLedger } from "./stream-ledger.ts";
import { isTaintedBy, readBefore } from "./taint.ts";

export type RoundsPlace = {
  readonly clock: Clock;
  readonly mode: () => CommandsAsked["mode"];
  /** How long what is asked for is waited for. */
  readonly commandMs?: number;
  readonly command: (asked: CommandsAsked) => Promise<readonly CommandResult[]>;
};

/** So often an answer is gone on with, and no longer: what is asked for after that is answered later. */
const roundsMax = 4;
const roundsMs = 60_000;
/** And so long a client waits for what was asked for: a thread that is stuck is replaced sooner. */
const waitMs = 30_000;
/** The latest results of one stream: a client may go back and send what they answer again. */
const resultsMax = 1_000;

type Heard = {
  readonly line: Line;
  readonly read: Read;
  readonly path: SentPath | null;
  readonly rounds: number;
  readonly units: readonly AnswerUnit[];
  /** Where the request ended that it answers. */
  readonly leaf: Place | null;
  /** When the first round began; null: there was none. */
  readonly sinceMs: number | null;
  /** Tokens of all that was answered so far. */
  readonly spent: number;
  /** The last that was heard. */
  readonly end: Place;
};

/** An answer that asks something of us. */
export type Round = Omit<Heard, "units" | "path"> & {
  readonly path: SentPath;
  /** What the answer hangs in, and what must not be sent by then. */
  readonly ledger: StreamLedger;
  readonly withheld: Line["withheld"];
  /** All of it was carried out, or will not be. */
  readonly done: Promise<void>;
};

/** What answers ask of our tools: carried out as soon as it is heard, and kept until it is told. */
export class Rounds {
  readonly #place: RoundsPlace;
  readonly #open = new WeakMap<Sending, Round>();

  constructor(place: RoundsPlace) {
    this.#place = place;
  }

  begin(sending: Sending, { units, path, ...heard }: Heard): void {
    if (path === null) return;
    const { line, rounds } = heard;
    const { nonce } = line;
    const written = path.head.hasTextCommands ? lineCalls(heard.end, nonce) : [];
    const called = path.head.ownTools.length > 0 ? ownCallsIn(units) : [];
    const calls = [...called, ...written.map(({ id, name, input }) => ({ id, name, input }))];
    if (calls.length === 0) return;
    const isTainted = isTaintedBy(readBefore(heard.leaf, units), nonce);
    const asked = { request: sending.request, calls, nonce, mode: this.#place.mode(), isTainted };
    const before = heard.leaf?.sent?.id ?? "";
    const done = inTime(this.#carryOut(line, asked, before), this.#place.commandMs ?? waitMs);
    const nowMs = this.#place.clock.now();
    const sinceMs = heard.sinceMs ?? nowMs;
    if (rounds >= roundsMax || nowMs - sinceMs > roundsMs) return;
    const { ledger, withheld } = line;
    const begun = { path, sinceMs, ledger, withheld, done, read: lasting(heard.read) };
    this.#open.set(sending, { ...heard, ...begun });
  }

  /** Once. */
  take(sending: Sending): Round | null {
    const round = this.#open.get(sending) ?? null;
    this.#open.delete(sending);
    return round;
  }

  #carryOut(line: Line, asked: CommandsAsked, before: string): Promise<void> {
    const others = line.doing;
    const done = this.#command(line, asked, before);
    // Those of several answers at once are waited for together.
    const doing = Promise.all([others, done]).then(() => {
      if (line.doing === doing) line.doing = null;
    });
    line.doing = doing;
    return done;
  }

  /** Before: where the request ended whose answer asks. Another answer may call by the same id. */
  async #command({ results }: Line, asked: CommandsAsked, before: string): Promise<void> {
    const told = await this.#place.command(asked).catch(() => asked.calls.map(notDone));
    for (const result of told) results.set(callKey({ id: result.id, before }), result);
    for (const id of [...results.keys()].slice(0, Math.max(0, results.size - resultsMax))) results.delete(id);
  }
}

/** Resolves when the work is done, or when nobody should wait for it any longer. */
async function inTime(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

function notDone({ id }: OwnCall): CommandResult {
  const text = "Aperture could not carry this out: its records cannot be reached. Go on without it.";
  return { id, text, isError: true };
}

/** The memory of a body is used again once its answer is over. */
function lasting(read: Read): Read {
  const body = Buffer.from(read.body);
  return { ...read, body, request: { ...read.request, bytes: body } };
}

/** A client that answers its own calls at once comes before ours are done: it waits a moment for them. */
export function soonDone(doing: Promise<void>, ms: number = soonMs): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([doing, late]).finally(() => clearTimeout(timer));
}

const soonMs = 250;
