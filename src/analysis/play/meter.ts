import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import type { ModelPrices } from "../../render/index.ts";
import { type CacheRules, type Prompt, type PromptBill, PromptCache } from "./cache.ts";
import { PromptReader } from "./prompt-reader.ts";
import type { SizedUnit, Sizer } from "./units.ts";

/** With the pauses that were recorded, and without any. */
export type Both = { readonly timed: PromptBill; readonly warm: PromptBill };

export type Metered = {
  readonly request: WireRequest;
  readonly prompt: Prompt<SizedUnit>;
  readonly bills: Both;
};

type Caches = { readonly timed: PromptCache; readonly warm: PromptCache };

/** Prices the bodies of one stream, one after the other. What one model has cached no other reads. */
export class Meter {
  readonly #reader: PromptReader;
  readonly #rules: CacheRules;
  readonly #caches = new Map<string | null, Caches>();
  #before: WireRequest | null = null;

  constructor({ rule, cache }: Pick<ModelPrices, "rule" | "cache">, sizer: Sizer) {
    this.#reader = new PromptReader(sizer);
    this.#rules = { ...rule, lifetimeMs: cache.lifetimeMs };
  }

  send(body: Buffer, timeMs: number): Metered {
    const request = ingestRequest(body, this.#before);
    if (request === null) throw new Error("what is sent can be read");
    const isSameModel = this.#before !== null && this.#before.model === request.model;
    this.#before = request;
    const prompt = this.#reader.read(request);
    // A cache that was not asked last knows nothing of what the prompt before had in common with this one.
    const seen = isSameModel ? prompt : { ...prompt, same: 0 };
    const { timed, warm } = this.#cachesOf(request.model);
    return { request, prompt, bills: { timed: timed.send(seen, timeMs), warm: warm.send(seen, timeMs) } };
  }

  #cachesOf(model: string | null): Caches {
    const known = this.#caches.get(model);
    if (known !== undefined) return known;
    const timed = new PromptCache(this.#rules);
    const warm = new PromptCache({ ...this.#rules, lifetimeMs: Number.POSITIVE_INFINITY });
    this.#caches.set(model, { timed, warm });
    return { timed, warm };
  }
}
