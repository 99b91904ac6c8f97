import { protocolOf, type WireRequest } from "../../protocols/index.ts";
import type { PlayedPrompt } from "./simulated-cache.ts";
import type { SizedPromptUnit } from "./unit-sizer.ts";

/** Finds requests that do not continue the one before, although the client's request did. */
export class BreakDetector {
  /** How many units of the last request the next one has to begin with. */
  #client = 0;
  #upstream = 0;

  check({ client, upstream, sent }: PromptPair): {
    readonly isBreak: boolean;
    readonly isExtension: boolean;
  } {
    const isExtension = client.same >= this.#client;
    const isBreak = isExtension && upstream.same < this.#upstream;
    this.#client = client.units.length;
    this.#upstream = mayDropTail(sent) ? withoutTail(upstream.units) : upstream.units.length;
    return { isBreak, isExtension };
  }
}

export type PromptPair = {
  readonly client: PlayedPrompt<SizedPromptUnit>;
  readonly upstream: PlayedPrompt<SizedPromptUnit>;
  /** The request that went upstream. */
  readonly sent: WireRequest;
};

/**
 * A self-clearing message is gone with the next request; models that bind nothing accept a dropped last text.
 */
function mayDropTail(request: WireRequest): boolean {
  const { model, messages } = request;
  return messages.at(-1)?.isSelfClearing === true || !protocolOf(request).traits.model(model).isBound;
}

function withoutTail(units: readonly SizedPromptUnit[]): number {
  return units.findLastIndex(({ own }) => own !== "tail") + 1;
}
