import { must } from "../../base/index.ts";
import type { PlannedRequest } from "../../exchange/index.ts";
import type { ModelPrices } from "../../policy/index.ts";
import type { ExactCounter } from "../../tokens/index.ts";
import { type ClientForm, ClientWriter, callBlock, type RecordedTurn } from "../../transcripts/index.ts";
import { BreakDetector } from "./break-detector.ts";
import { ExpandCharge } from "./expand-charge.ts";
import { messageTokens } from "./message-tokens.ts";
import { MissDetector, namesUsed } from "./miss-detector.ts";
import { type MeteredRequest, PromptMeter, type TimedBills } from "./prompt-meter.ts";
import { RequestPlayer } from "./request-player.ts";
import type { PlayedPrompt, PromptBill, TokenBill } from "./simulated-cache.ts";
import type { UnitNames } from "./unit-names.ts";
import { type SizedPromptUnit, UnitSizer } from "./unit-sizer.ts";

/** The stream to play, and how each of its prompts is priced. */
export type StreamPlayInput = {
  readonly form: ClientForm;
  readonly turns: readonly RecordedTurn[];
  readonly headers: Readonly<Record<string, string>>;
  readonly upstream: string;
  readonly policy: "auto" | "off";
  readonly arrival: "lossless" | "trimmed";
  /** Which of our tools the model calls every few turns, in a round of its own. Null for none. */
  readonly rounds: "mixed" | "reading" | null;
  /** The model the client names. Null for the recorded model of each request. */
  readonly model: string | null;
  /** The recorded model of the session, for requests that have none. */
  readonly otherModel: string;
  readonly prices: ModelPrices;
  readonly pricesOf: (model: string | null) => ModelPrices;
  readonly windowOf: (model: string | null) => number;
  readonly ownTokens: number;
  readonly count: ExactCounter;
  readonly unitNames: UnitNames;
  /** Tokens of the excerpt that shows missed content again. */
  readonly excerptTokens: number;
};

/** One prompt with its bills as the client sent it and as it went upstream. */
export type PricedPrompt = {
  readonly isManaged: boolean;
  readonly asSent: TimedBills;
  readonly managed: TimedBills;
  readonly own: OwnTokens;
  readonly output: number;
  /** Tokens of the prompt as the client sent it. */
  readonly clientTokens: number;
  /** Why the prompt does not continue the one before although the client's does. Null if it does. */
  readonly broken: "rewritten" | "joined" | "unexplained" | null;
  /** True if the answer uses a name that the prompt did not show. */
  readonly isMiss: boolean;
  /** The cost of showing such names again. */
  readonly charge: TokenBill;
  /** Why the planner rewrote the prompt, and which cost it predicted. */
  readonly rewrite: { readonly reason: string; readonly predicted: number | null } | null;
  /** True if there are more marks than the provider allows: it would refuse such a request. */
  readonly hasTooManyMarks: boolean;
};

/** Tokens of our notes in a prompt, by kind and price. */
export type OwnTokens = Readonly<Record<"instructions" | "header" | "tail", TokenBill>>;

/** One request as the client sent it, and the names its answer used. */
export type ClientRequest = {
  readonly units: readonly SizedPromptUnit[];
  readonly timeMs: number;
  readonly used: ReadonlySet<string>;
  /** True if it continues the request before. */
  readonly isExtension: boolean;
};

/** The priced prompts of a stream, and its requests as the client sent them. */
export type StreamPlayResult = {
  readonly priced: readonly PricedPrompt[];
  readonly client: readonly ClientRequest[];
};

export async function playStream(input: StreamPlayInput): Promise<StreamPlayResult> {
  const stream = new StreamPlayer(input);
  const priced: PricedPrompt[] = [];
  for (const turn of input.turns) priced.push(await stream.playTurn(turn));
  return { priced, client: stream.client };
}

class StreamPlayer {
  readonly client: ClientRequest[] = [];
  readonly #input: StreamPlayInput;
  readonly #writer: ClientWriter;
  readonly #player: RequestPlayer;
  readonly #asSent: PromptMeter;
  readonly #managed: PromptMeter;
  readonly #breaks = new BreakDetector();
  readonly #misses: MissDetector;
  readonly #charge: ExpandCharge;
  #isManaged = false;
  #turns = 0;

  constructor(input: StreamPlayInput) {
    this.#input = input;
    const { form, upstream, headers, windowOf, pricesOf, policy, arrival } = input;
    const { prices, ownTokens, count, unitNames, excerptTokens } = input;
    const model = input.model ?? input.otherModel;
    this.#writer = new ClientWriter(form);
    this.#player = new RequestPlayer({ upstream, headers, windowOf, pricesOf, policy, arrival });
    const sizer = new UnitSizer({ model, ownTokens, count });
    this.#asSent = new PromptMeter(prices, sizer);
    this.#managed = new PromptMeter(prices, sizer);
    this.#misses = new MissDetector(unitNames);
    this.#charge = new ExpandCharge(excerptTokens);
  }

  async playTurn(turn: RecordedTurn): Promise<PricedPrompt> {
    const model = this.#input.model ?? turn.m?.model ?? this.#input.otherModel;
    const body = this.#writer.request(turn, model);
    const planned = await this.#player.plan(body, turn);
    const { timeMs } = this.#player;
    const asSent = this.#asSent.send(body, timeMs);
    const managed = this.#managed.send(Buffer.concat(planned.pieces), timeMs);
    const findings = this.#inspect({ asSent, managed, turn, planned });
    const last = await this.#playRound(planned, { model, managed });
    this.#isManaged = planned.rendering === "managed";
    const output = Math.max(
      turn.m?.usage?.out ?? 0,
      messageTokens({ role: "assistant", content: turn.a }, model),
    );
    const usage = usageOf(last.managed.bills.timed, output);
    await this.#player.answer(last.planned, { model, content: turn.a, stop: "end", usage });
    return {
      isManaged: planned.rendering === "managed",
      asSent: asSent.bills,
      managed: last.planned === planned ? managed.bills : sumOfSamplings(managed.bills, last),
      own: ownTokens(managed.prompt, managed.bills.timed),
      output,
      clientTokens: sizeOf(asSent.bills.timed),
      ...findings,
    };
  }

  /** Every few turns the model first calls one of our tools in a round of its own. */
  async #playRound(
    planned: PlannedRequest,
    { model, managed }: { readonly model: string; readonly managed: MeteredRequest },
  ): Promise<LastSample> {
    const { rounds, prices } = this.#input;
    this.#turns += 1;
    const isDue = this.#turns % roundEvery === 0 && planned.isOwnTool !== null;
    if (rounds === null || !isDue) return { planned, managed, outputTokens: 0 };
    const calls = roundCalls[rounds];
    const { name, input } = must(calls[(this.#turns / roundEvery) % calls.length], "there is one");
    const content = [callBlock({ id: `own-${this.#turns}`, name, input })];
    const output = messageTokens({ role: "assistant", content }, model);
    const usage = usageOf(managed.bills.timed, output);
    const next = await this.#player.planRound(planned, { model, content, stop: "calls", usage });
    const again = this.#managed.send(Buffer.concat(next.pieces), this.#player.timeMs);
    return { planned: next, managed: again, outputTokens: output * prices.output };
  }

  #inspect({ asSent, managed, turn, planned }: TurnPrompts): PromptFindings {
    const { timeMs } = this.#player;
    const both = { client: asSent.prompt, upstream: managed.prompt };
    const { isBreak, isExtension } = this.#breaks.check({ ...both, sent: managed.request });
    if (!isExtension) this.#charge.reset();
    const used = namesUsed(turn);
    this.client.push({ units: asSent.prompt.units, timeMs, used, isExtension });
    const missed = this.#charge.stillMissed(this.#misses.missedNames({ ...both, used }));
    const { marksMax } = this.#input.prices.rule;
    return {
      broken: isBreak ? this.#breakReason(planned, asSent.bills.timed) : null,
      isMiss: missed.length > 0,
      charge: this.#charge.bill(managed.bills.timed, missed),
      rewrite: rewriteOf(planned),
      hasTooManyMarks: marksMax > 0 && managed.prompt.marks.length > marksMax,
    };
  }

  /** A stream may become managed while nothing of it is cached: that costs nothing. */
  #breakReason({ sent, rendering }: PlannedRequest, { read }: TokenBill): PricedPrompt["broken"] {
    const isJoin = rendering === "managed" && !this.#isManaged && read === 0;
    return (sent?.epoch ?? null) !== null ? "rewritten" : isJoin ? "joined" : "unexplained";
  }
}

/** Turns from one round to the next. */
const roundEvery = 5;

type RoundCall = { readonly name: string; readonly input: Readonly<Record<string, string>> };

/** Calls that read the context or create a memory; none makes the context smaller. */
const readingCalls: readonly RoundCall[] = [
  { name: "aperture_read", input: { verb: "manifest", detail: "summary" } },
  { name: "aperture_read", input: { verb: "recall", target: "tests" } },
  { name: "aperture_read", input: { verb: "diff" } },
  {
    name: "aperture_note",
    input: { verb: "create", text: "The tests are run with npm test.", topic: "tests" },
  },
];
/** The calls of each sort of rounds; `mixed` also makes room. */
const roundCalls: Readonly<Record<"mixed" | "reading", readonly RoundCall[]>> = {
  reading: readingCalls,
  mixed: [
    ...readingCalls,
    { name: "aperture_archive", input: { target: "stale", reason: "not needed any more" } },
    { name: "aperture_manage", input: { verb: "compress", target: "stale", level: "trimmed" } },
  ],
};

/** The last sampling of a turn. */
type LastSample = {
  readonly planned: PlannedRequest;
  readonly managed: MeteredRequest;
  /** The cost of the output of earlier samplings, in tokens of plain input. */
  readonly outputTokens: number;
};

/** The bills of two samplings for one request of the client. */
function sumOfSamplings(first: TimedBills, { managed: { bills }, outputTokens }: LastSample): TimedBills {
  const sum = (one: PromptBill, other: PromptBill): PromptBill => ({
    ...one,
    read: one.read + other.read,
    written: one.written + other.written,
    fresh: one.fresh + other.fresh + outputTokens,
  });
  return { timed: sum(first.timed, bills.timed), warm: sum(first.warm, bills.warm) };
}

function rewriteOf({ sent }: PlannedRequest): PricedPrompt["rewrite"] {
  const epoch = sent?.epoch ?? null;
  return epoch === null ? null : { reason: epoch.reason, predicted: epoch.predicted?.rewritten ?? null };
}

type PromptFindings = Pick<PricedPrompt, "broken" | "isMiss" | "charge" | "rewrite" | "hasTooManyMarks">;
type TurnPrompts = {
  readonly asSent: MeteredRequest;
  readonly managed: MeteredRequest;
  readonly turn: RecordedTurn;
  readonly planned: PlannedRequest;
};

function sizeOf({ read, written, fresh }: TokenBill): number {
  return read + written + fresh;
}

function usageOf({ read, written, fresh }: PromptBill, output: number) {
  return {
    fresh: Math.round(fresh),
    read: Math.round(read),
    written: Math.round(written),
    output,
  };
}

function ownTokens(
  { units }: PlayedPrompt<SizedPromptUnit>,
  { readUnits, writtenUnits }: PromptBill,
): OwnTokens {
  const bills = { instructions: emptyBill(), header: emptyBill(), tail: emptyBill() };
  for (let at = 0; at < units.length; at += 1) {
    const { own, tokens } = must(units[at], "it is in the prompt");
    if (own !== null) bills[own][at < readUnits ? "read" : at < writtenUnits ? "written" : "fresh"] += tokens;
  }
  return bills;
}

function emptyBill(): { read: number; written: number; fresh: number } {
  return { read: 0, written: 0, fresh: 0 };
}
