import type { WireRequest } from "../../protocols/index.ts";
import { bestHead } from "./best-head.ts";
import { type Head, hasHead, nothingOwn, type OwnHead, openHead, ownFor } from "./head.ts";
import type { Counting } from "./hear.ts";
import { type Place, sentOf } from "./place.ts";
import type { RenderAsked } from "./rendering.ts";
import type { GivenRules } from "./trace.ts";

/** A client may come back to one, and several agents share a name. */
const headsMax = 16;

export type HeadPlace = {
  /** What stands in front of a head that is opened for a managed request. */
  readonly own: OwnHead;
  /** The last request and its head. */
  readonly current: { readonly request: WireRequest; readonly head: Head } | null;
  readonly rulesFor: (head: Head) => GivenRules;
};

/** The heads of a ledger, the one used last at the end. */
export class Heads {
  #heads: readonly Head[] = [];

  get all(): readonly Head[] {
    return this.#heads;
  }

  find(id: string): Head | null {
    return this.#heads.find(({ root }) => sentOf(root).id === id) ?? null;
  }

  /** The one whose messages begin there. */
  below(root: Place): Head | null {
    return this.#heads.find((head) => head.root === root) ?? null;
  }

  /** It is the one used last now. */
  keep(head: Head): void {
    const others = this.#heads.filter((one) => one !== head);
    this.#heads = [...others.slice(1 - headsMax), head];
  }

  /** The head in use goes on as it is; only a new one is opened in the way that is wanted now. */
  headFor(asked: RenderAsked, place: HeadPlace, counting: Counting): Head {
    const known = this.#serving(asked, place);
    if (known !== null) {
      this.keep(known);
      return known;
    }
    const { request, style } = asked;
    const own = style === "plain" || this.#joins(request) ? nothingOwn : ownFor(request, place.own);
    const head = openHead({ request, own, ...counting });
    // What is no turn leaves nothing behind: its numbers will be given to something else.
    if (asked.purpose === "turn") this.keep(head);
    return head;
  }

  /** Nothing in front of what the model has said may change: instructions that come late come last. */
  #joins({ messages }: WireRequest): boolean {
    return this.#heads.length === 0 && messages.some(({ role }) => role === "assistant");
  }

  #serving({ request, style }: RenderAsked, { current, rulesFor }: HeadPlace): Head | null {
    const mayServe = ({ instructions }: Head): boolean => style === "managed" || instructions === null;
    const isSame = ({ tools, system }: WireRequest): boolean =>
      request.tools.units === tools.units && request.system.units === system.units;
    const serving = this.#heads.filter(
      (head) =>
        mayServe(head) && ((head === current?.head && isSame(current.request)) || hasHead(head, request)),
    );
    return serving.length > 1 ? bestHead(serving, request, rulesFor) : (serving[0] ?? null);
  }
}
