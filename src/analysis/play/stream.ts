import { must } from "../../base/index.ts";
import type { ModelPrices } from "../../render/index.ts";
import type { Sending } from "../../session/index.ts";
import type { Counter } from "../../tokens/index.ts";
import type { RecordedTurn } from "../../transcripts/index.ts";
import { BreakWatch } from "./breaks.ts";
import type { Bill, Prompt, PromptBill } from "./cache.ts";
import { ExpandCharge } from "./charge.ts";
import { type ClientForm, ClientWriter } from "./client.ts";
import { messageTokens } from "./message-tokens.ts";
import { type Both, Meter, type Metered } from "./meter.ts";
import { MissWatch, namesUsed } from "./misses.ts";
import type { NameBook } from "./name-book.ts";
import { Player } from "./player.ts";
import { type SizedUnit, Sizer } from "./units.ts";

/** How one stream is played, and how each of its prompts is priced. */
export type StreamAsked = {
  readonly form: ClientForm;
  readonly turns: readonly RecordedTurn[];
  readonly headers: Readonly<Record<string, string>>;
  readonly upstream: string;
  readonly policy: "auto" | "off";
  readonly arrival: "lossless" | "trimmed";
  /** What the model asks of our tools every few turns, in a round of its own; null: nothing. */
  readonly rounds: "mixed" | "reading" | null;
  /** The name the client gives; null: the recorded one of each request. */
  readonly model: string | null;
  /** The recorded name, also for requests that have none. */
  readonly otherModel: string;
  readonly prices: ModelPrices;
  readonly pricesOf: (model: string | null) => ModelPrices;
  readonly windowOf: (model: string | null) => number;
  readonly ownTokens: number;
  readonly count: Counter;
  readonly book: NameBook;
  /** Tokens of what is shown when something that was left out is asked for. */
  readonly excerpt: number;
};

/** One prompt, priced as the client sent it and as it went upstream. */
export type Priced = {
  readonly isManaged: boolean;
  readonly asSent: Both;
  readonly managed: Both;
  readonly own: OwnTokens;
  readonly output: number;
  /** Of the prompt as the client sent it. */
  readonly clientTokens: number;
  /** Why it does not go on from the one before although the client's does; null: it does. */
  readonly broken: "rewritten" | "joined" | "unexplained" | null;
  /** Whether the answer uses a name that was not shown, and what it costs to have such names shown again. */
  readonly isMiss: boolean;
  readonly charge: Bill;
  /** Why the product has rewritten it, and what it expected it to cost then. */
  readonly rewrite: { readonly reason: string; readonly predicted: number | null } | null;
  /** More marks than the provider takes: it would refuse such a request. */
  readonly hasTooManyMarks: boolean;
};

/** Tokens of ours in a prompt, by what they are and how they were charged. */
export type OwnTokens = Readonly<Record<"instructions" | "header" | "tail", Bill>>;

/** One request as the client sent it, and what its answer used. */
export type ClientRequest = {
  readonly units: readonly SizedUnit[];
  readonly timeMs: number;
  readonly used: ReadonlySet<string>;
  /** Whether it goes on from the one before. */
  readonly isExtension: boolean;
};

/** A stream with all its prompts, and as the client sent it. */
export type Played = { readonly priced: readonly Priced[]; readonly client: readonly ClientRequest[] };

export async function playStream(asked: StreamAsked): Promise<Played> {
  const stream = new PlayedStream(asked);
  const priced: Priced[] = [];
  for (const turn of asked.turns) priced.push(await stream.turn(turn));
  return { priced, client: stream.client };
}

class PlayedStream {
  readonly client: ClientRequest[] = [];
  readonly #asked: StreamAsked;
  readonly #writer: ClientWriter;
  readonly #player: Player;
  readonly #asSent: Meter;
  readonly #managed: Meter;
  readonly #breaks = new BreakWatch();
  readonly #misses: MissWatch;
  readonly #charge: ExpandCharge;
  #isManaged = false;
  #turns = 0;

  constructor(asked: StreamAsked) {
    this.#asked = asked;
    const { form, upstream, headers, windowOf, pricesOf, policy, arrival } = asked;
    const { prices, ownTokens, count, book, excerpt } = asked;
    const model = asked.model ?? asked.otherModel;
    this.#writer = new ClientWriter(form);
    this.#player = new Player({ upstream, headers, windowOf, pricesOf, policy, arrival });
    const sizer = new Sizer({ model, ownTokens, count });
    this.#asSent = new Meter(prices, sizer);
    this.#managed = new Meter(prices, sizer);
    this.#misses = new MissWatch(book);
    this.#charge = new ExpandCharge(excerpt);
  }

  async turn(turn: RecordedTurn): Promise<Priced> {
    const model = this.#asked.model ?? turn.m?.model ?? this.#asked.otherModel;
    const body = this.#writer.request(turn, model);
    const sending = await this.#player.take(body, turn);
    const { timeMs } = this.#player;
    const asSent = this.#asSent.send(body, timeMs);
    const managed = this.#managed.send(Buffer.concat(sending.pieces), timeMs);
    const seen = this.#watch({ asSent, managed, turn, sending });
    const last = await this.#rounded(sending, { model, managed });
    this.#isManaged = sending.rendering === "managed";
    const output = Math.max(
      turn.m?.usage?.out ?? 0,
      messageTokens({ role: "assistant", content: turn.a }, model),
    );
    const usage = usageOf(last.managed.bills.timed, output);
    await this.#player.answer(last.sending, { model, content: turn.a, stop_reason: "end_turn", usage });
    return {
      isManaged: sending.rendering === "managed",
      asSent: asSent.bills,
      managed: last.sending === sending ? managed.bills : sumOf(managed.bills, last),
      own: ownTokens(managed.prompt, managed.bills.timed),
      output,
      clientTokens: sizeOf(asSent.bills.timed),
      ...seen,
    };
  }

  /** The model does something about its context first, every few turns. */
  async #rounded(sending: Sending, { model, managed }: Asked): Promise<Rounded> {
    const { rounds, prices } = this.#asked;
    this.#turns += 1;
    const isDue = this.#turns % roundEvery === 0 && sending.isOwnTool !== null;
    if (rounds === null || !isDue) return { sending, managed, outputTokens: 0 };
    const calls = roundCalls[rounds];
    const { name, input } = must(calls[(this.#turns / roundEvery) % calls.length], "there is one");
    const content = [{ type: "tool_use", id: `own-${this.#turns}`, name, input }];
    const output = messageTokens({ role: "assistant", content }, model);
    const usage = usageOf(managed.bills.timed, output);
    const next = await this.#player.round(sending, { model, content, stop_reason: "tool_use", usage });
    const again = this.#managed.send(Buffer.concat(next.pieces), this.#player.timeMs);
    return { sending: next, managed: again, outputTokens: output * prices.output };
  }

  #watch({ asSent, managed, turn, sending }: Turn): Watched {
    const { timeMs } = this.#player;
    const both = { client: asSent.prompt, upstream: managed.prompt };
    const { isBreak, isExtension } = this.#breaks.see({ ...both, sent: managed.request });
    if (!isExtension) this.#charge.startOver();
    const used = namesUsed(turn);
    this.client.push({ units: asSent.prompt.units, timeMs, used, isExtension });
    const missed = this.#charge.stillMissed(this.#misses.missed({ ...both, used }));
    const { marksMax } = this.#asked.prices.rule;
    return {
      broken: isBreak ? this.#reason(sending, asSent.bills.timed) : null,
      isMiss: missed.length > 0,
      charge: this.#charge.bill(managed.bills.timed, missed),
      rewrite: rewriteOf(sending),
      hasTooManyMarks: marksMax > 0 && managed.prompt.marks.length > marksMax,
    };
  }

  /** A stream may begin to be managed where nothing of it is cached: that breaks nothing. */
  #reason({ sent, rendering }: Sending, { read }: Bill): Priced["broken"] {
    const joins = rendering === "managed" && !this.#isManaged && read === 0;
    return (sent?.epoch ?? null) !== null ? "rewritten" : joins ? "joined" : "unexplained";
  }
}

/** Turns from one round to the next. */
const roundEvery = 5;

type RoundCall = { readonly name: string; readonly input: Readonly<Record<string, string>> };

/** What a model wants of its context now and then. */
const reading: readonly RoundCall[] = [
  { name: "aperture_read", input: { verb: "manifest", detail: "summary" } },
  { name: "aperture_read", input: { verb: "recall", target: "tests" } },
  { name: "aperture_read", input: { verb: "diff" } },
  {
    name: "aperture_note",
    input: { verb: "create", text: "The tests are run with npm test.", topic: "tests" },
  },
];
/** Mixed: also to make room. Reading: nothing that would make the context smaller. */
const roundCalls: Readonly<Record<"mixed" | "reading", readonly RoundCall[]>> = {
  reading,
  mixed: [
    ...reading,
    { name: "aperture_archive", input: { target: "stale", reason: "not needed any more" } },
    { name: "aperture_manage", input: { verb: "compress", target: "stale", level: "trimmed" } },
  ],
};

type Asked = { readonly model: string; readonly managed: Metered };
/** The last sampling of a turn; what was written before it costs as much as so many tokens of input. */
type Rounded = { readonly sending: Sending; readonly managed: Metered; readonly outputTokens: number };

/** Two samplings for one request of the client. */
function sumOf(first: Both, { managed: { bills }, outputTokens }: Rounded): Both {
  const sum = (one: PromptBill, other: PromptBill): PromptBill => ({
    ...one,
    read: one.read + other.read,
    written: one.written + other.written,
    fresh: one.fresh + other.fresh + outputTokens,
  });
  return { timed: sum(first.timed, bills.timed), warm: sum(first.warm, bills.warm) };
}

function rewriteOf({ sent }: Sending): Priced["rewrite"] {
  const epoch = sent?.epoch ?? null;
  return epoch === null ? null : { reason: epoch.reason, predicted: epoch.predicted?.rewritten ?? null };
}

type Watched = Pick<Priced, "broken" | "isMiss" | "charge" | "rewrite" | "hasTooManyMarks">;
type Turn = {
  readonly asSent: Metered;
  readonly managed: Metered;
  readonly turn: RecordedTurn;
  readonly sending: Sending;
};

function sizeOf({ read, written, fresh }: Bill): number {
  return read + written + fresh;
}

function usageOf({ read, written, fresh }: PromptBill, output: number) {
  return {
    input_tokens: Math.round(fresh),
    cache_read_input_tokens: Math.round(read),
    cache_creation_input_tokens: Math.round(written),
    output_tokens: output,
  };
}

function ownTokens({ units }: Prompt<SizedUnit>, { readUnits, writtenUnits }: PromptBill): OwnTokens {
  const bills = { instructions: nothing(), header: nothing(), tail: nothing() };
  for (let at = 0; at < units.length; at += 1) {
    const { own, tokens } = must(units[at], "it is in the prompt");
    if (own !== null) bills[own][at < readUnits ? "read" : at < writtenUnits ? "written" : "fresh"] += tokens;
  }
  return bills;
}

function nothing(): { read: number; written: number; fresh: number } {
  return { read: 0, written: 0, fresh: 0 };
}
