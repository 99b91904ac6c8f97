import { isClearing, modelTraits, type WireRequest } from "../../protocols/index.ts";
import type { Prompt } from "./cache.ts";
import type { SizedUnit } from "./units.ts";

/** Finds requests that do not go on from the one before, although the client's did. */
export class BreakWatch {
  /** How many units of the last request the next has to begin with. */
  #client = 0;
  #upstream = 0;

  see({ client, upstream, sent }: Seen): { readonly isBreak: boolean; readonly isExtension: boolean } {
    const isExtension = client.same >= this.#client;
    const isBreak = isExtension && upstream.same < this.#upstream;
    this.#client = client.units.length;
    this.#upstream = mayDropTail(sent) ? withoutTail(upstream.units) : upstream.units.length;
    return { isBreak, isExtension };
  }
}

export type Seen = {
  readonly client: Prompt<SizedUnit>;
  readonly upstream: Prompt<SizedUnit>;
  /** What went upstream, of which the units were read. */
  readonly sent: WireRequest;
};

/** A message that clears itself is gone with the next; other models take a last text that is left out. */
function mayDropTail({ model, messages }: WireRequest): boolean {
  return isClearing(messages.at(-1)?.head ?? "") || !modelTraits(model).isBound;
}

function withoutTail(units: readonly SizedUnit[]): number {
  return units.findLastIndex(({ own }) => own !== "tail") + 1;
}
