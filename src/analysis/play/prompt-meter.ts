import type { ModelPrices } from "../../policy/index.ts";
import { protocolOf, type WireRequest } from "../../protocols/index.ts";
import { recordingRoute } from "../../transcripts/index.ts";
import { PromptReader } from "./prompt-reader.ts";
import { type CacheRules, type PlayedPrompt, type PromptBill, SimulatedCache } from "./simulated-cache.ts";
import type { SizedPromptUnit, UnitSizer } from "./unit-sizer.ts";

/** The bills with the recorded pauses (`timed`) and without any (`warm`). */
export type TimedBills = { readonly timed: PromptBill; readonly warm: PromptBill };

export type MeteredRequest = {
  readonly request: WireRequest;
  readonly prompt: PlayedPrompt<SizedPromptUnit>;
  readonly bills: TimedBills;
};

type CachePair = { readonly timed: SimulatedCache; readonly warm: SimulatedCache };

/** Bills the bodies of one stream, one after the other. Each model has a cache of its own. */
export class PromptMeter {
  readonly #reader: PromptReader;
  readonly #rules: CacheRules;
  readonly #caches = new Map<string | null, CachePair>();
  #before: WireRequest | null = null;

  constructor({ rule, cache }: Pick<ModelPrices, "rule" | "cache">, sizer: UnitSizer) {
    this.#reader = new PromptReader(sizer);
    this.#rules = { ...rule, lifetimeMs: cache.lifetimeMs };
  }

  send(body: Buffer, timeMs: number): MeteredRequest {
    const request = protocolOf(recordingRoute).read.request(body, this.#before);
    if (request === null) throw new Error("what is sent can be read");
    const isSameModel = this.#before !== null && this.#before.model === request.model;
    this.#before = request;
    const prompt = this.#reader.read(request);
    // The cache of another model has not seen the prompt before, so its shared units do not count.
    const seen = isSameModel ? prompt : { ...prompt, same: 0 };
    const { timed, warm } = this.#cachesOf(request.model);
    return { request, prompt, bills: { timed: timed.send(seen, timeMs), warm: warm.send(seen, timeMs) } };
  }

  #cachesOf(model: string | null): CachePair {
    const known = this.#caches.get(model);
    if (known !== undefined) return known;
    const timed = new SimulatedCache(this.#rules);
    const warm = new SimulatedCache({ ...this.#rules, lifetimeMs: Number.POSITIVE_INFINITY });
    this.#caches.set(model, { timed, warm });
    return { timed, warm };
  }
}
