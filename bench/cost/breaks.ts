import { isClearing, modelTraits, type WireRequest } from "../../src/protocols/index.ts";
import type { SizedUnit } from "./units.ts";

/** Finds requests that do not go on from the one before, although the client's did. */
export class BreakWatch {
  #client: readonly SizedUnit[] = [];
  #upstream: readonly SizedUnit[] = [];

  /** Whether this is one. `sent` is what went upstream, of which the units were read. */
  see(asked: Seen): { readonly isBreak: boolean; readonly isExtension: boolean } {
    const { client, upstream, sent } = asked;
    const isExtension = extendsAll(this.#client, client);
    const isBreak = isExtension && !extendsAll(this.#upstream, upstream);
    this.#client = client;
    this.#upstream = mayDropTail(sent) ? withoutTail(upstream) : upstream;
    return { isBreak, isExtension };
  }
}

export type Seen = {
  readonly client: readonly SizedUnit[];
  readonly upstream: readonly SizedUnit[];
  readonly sent: WireRequest;
};

function extendsAll(before: readonly SizedUnit[], now: readonly SizedUnit[]): boolean {
  return before.length <= now.length && before.every(({ key }, at) => key === now[at]?.key);
}

/** A message that clears itself is gone with the next; other models take a last text that is left out. */
function mayDropTail({ model, messages }: WireRequest): boolean {
  return isClearing(messages.at(-1)?.head ?? "") || !modelTraits(model).isBound;
}

function withoutTail(units: readonly SizedUnit[]): readonly SizedUnit[] {
  const last = units.findLastIndex(({ own }) => own !== "tail");
  return units.slice(0, last + 1);
}
