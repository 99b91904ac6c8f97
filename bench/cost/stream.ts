import { ingestRequest, type WireRequest } from "../../src/protocols/index.ts";
import type { ModelPrices } from "../../src/render/index.ts";
import type { Sending } from "../../src/session/index.ts";
import { type Counter, estimateTokens } from "../../src/tokens/index.ts";
import type { RecordedTurn } from "../../test/support/recordings.ts";
import { messageTokens } from "../../test/tokens/replay.ts";
import { type ClientForm, ClientWriter } from "../replay/client.ts";
import { Player } from "../replay/player.ts";
import { type PromptBill, PromptCache } from "./cache.ts";
import { type SizedUnit, Sizer } from "./units.ts";

/** How one stream is played, and how each of its prompts is priced. */
export type StreamAsked = {
  readonly form: ClientForm;
  readonly turns: readonly RecordedTurn[];
  readonly headers: Readonly<Record<string, string>>;
  readonly upstream: string;
  /** The name the client gives; null: the recorded one of each request. */
  readonly model: string | null;
  /** What a request without a name is taken for. */
  readonly otherModel: string;
  readonly prices: ModelPrices;
  readonly windowOf: (model: string | null) => number;
  readonly ownTokens: number;
  readonly count: Counter;
};

/** One prompt, priced as the client sent it and as it went upstream. */
export type Priced = {
  readonly isManaged: boolean;
  readonly asSent: Both;
  readonly managed: Both;
  readonly own: OwnTokens;
  readonly output: number;
  readonly clientTokens: number;
};

/** With the pauses that were recorded, and without any. */
type Both = { readonly timed: PromptBill; readonly warm: PromptBill };

/** Tokens of ours in a prompt, by what they are and how they were charged. */
export type OwnTokens = Readonly<Record<"instructions" | "header" | "tail", Bill>>;
export type Bill = { readonly read: number; readonly written: number; readonly fresh: number };

export async function playStream(asked: StreamAsked): Promise<readonly Priced[]> {
  const played = new PlayedStream(asked);
  const priced: Priced[] = [];
  for (const turn of asked.turns) priced.push(await played.turn(turn));
  return priced;
}

class PlayedStream {
  readonly #asked: StreamAsked;
  readonly #writer: ClientWriter;
  readonly #player: Player;
  readonly #sizer: Sizer;
  readonly #asSent: Meter;
  readonly #managed: Meter;

  constructor(asked: StreamAsked) {
    this.#asked = asked;
    const { form, upstream, headers, windowOf, prices, ownTokens, count } = asked;
    const model = asked.model ?? asked.turns.find(({ m }) => m?.model !== undefined)?.m?.model;
    this.#writer = new ClientWriter(form);
    this.#player = new Player({ upstream, headers, windowOf });
    this.#sizer = new Sizer({ model: model ?? asked.otherModel, ownTokens, count });
    this.#asSent = new Meter(prices, this.#sizer);
    this.#managed = new Meter(prices, this.#sizer);
  }

  async turn(turn: RecordedTurn): Promise<Priced> {
    const model = this.#asked.model ?? turn.m?.model ?? this.#asked.otherModel;
    const body = this.#writer.request(turn, model);
    const sending = await this.#player.take(body, turn);
    const { timeMs } = this.#player;
    const asSent = this.#asSent.send(body, timeMs);
    const managed = this.#managed.send(bodyOf(sending), timeMs);
    const output = Math.max(
      turn.m?.usage?.out ?? 0,
      messageTokens({ role: "assistant", content: turn.a }, model),
    );
    const usage = usageOf(managed.bills.timed, output);
    await this.#player.answer(sending, { model, content: turn.a, stop_reason: "end_turn", usage });
    return {
      isManaged: sending.rendering === "managed",
      asSent: asSent.bills,
      managed: managed.bills,
      own: ownTokens(managed.units, managed.bills.timed),
      output,
      clientTokens: estimateTokens(body.length, model).count,
    };
  }
}

function bodyOf({ pieces }: Sending): Buffer {
  return Buffer.concat(pieces);
}

function usageOf({ read, written, fresh }: PromptBill, output: number) {
  return {
    input_tokens: Math.round(fresh),
    cache_read_input_tokens: Math.round(read),
    cache_creation_input_tokens: Math.round(written),
    output_tokens: output,
  };
}

/** Prices the bodies of one stream, one after the other. */
class Meter {
  readonly #sizer: Sizer;
  readonly #timed: PromptCache;
  readonly #warm: PromptCache;
  #before: WireRequest | null = null;

  constructor({ rule, cache }: ModelPrices, sizer: Sizer) {
    this.#sizer = sizer;
    this.#timed = new PromptCache({ ...rule, lifetimeMs: cache.lifetimeMs });
    this.#warm = new PromptCache({ ...rule, lifetimeMs: Number.POSITIVE_INFINITY });
  }

  send(body: Buffer, timeMs: number): { readonly units: readonly SizedUnit[]; readonly bills: Both } {
    const request = ingestRequest(body, this.#before);
    if (request === null) throw new Error("what is sent can be read");
    this.#before = request;
    const units = this.#sizer.units(request);
    return { units, bills: { timed: this.#timed.send(units, timeMs), warm: this.#warm.send(units, timeMs) } };
  }
}

function ownTokens(units: readonly SizedUnit[], { readUnits, writtenUnits }: PromptBill): OwnTokens {
  const bills = { instructions: nothing(), header: nothing(), tail: nothing() };
  for (const [at, { own, tokens }] of units.entries()) {
    if (own === null) continue;
    bills[own][at < readUnits ? "read" : at < writtenUnits ? "written" : "fresh"] += tokens;
  }
  return bills;
}

function nothing(): { read: number; written: number; fresh: number } {
  return { read: 0, written: 0, fresh: 0 };
}
