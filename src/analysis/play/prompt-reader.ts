import { isClearing, sharedMessages, type WireGroup, type WireRequest } from "../../protocols/index.ts";
import { type Prompt, promptAfter } from "./cache.ts";
import type { SizedUnit, Sizer } from "./units.ts";

/** Where the units of each group end: tools, system, then the messages. */
type Read = {
  readonly request: WireRequest;
  readonly prompt: Prompt<SizedUnit>;
  readonly ends: readonly number[];
};

/** Reads the requests of one stream. What a request has in common with the one before is not read again. */
export class PromptReader {
  readonly #sizer: Sizer;
  #before: Read | null = null;

  constructor(sizer: Sizer) {
    this.#sizer = sizer;
  }

  /** In the order in which a provider reads it: tools, system, messages. */
  read(request: WireRequest): Prompt<SizedUnit> {
    const groups = groupsOf(request);
    const lastUser = lastUserIn(request);
    const shared = this.#before === null ? 0 : sharedGroups(this.#before.request, request);
    const ends = this.#before?.ends.slice(0, shared) ?? [];
    const units = this.#before?.prompt.units.slice(0, ends.at(-1) ?? 0) ?? [];
    for (const [at, group] of groups.slice(shared).entries()) {
      // What clears itself is there for the last words of the user alone.
      const isGone = isClearing(group.head) && shared + at < lastUser;
      for (const unit of isGone ? [] : this.#sizer.unitsOf(request, group)) units.push(unit);
      ends.push(units.length);
    }
    const known = { same: ends[shared - 1] ?? 0 };
    const prompt = promptAfter(this.#before?.prompt ?? null, units, known.same);
    this.#before = { request, prompt, ends };
    return prompt;
  }
}

function groupsOf({ tools, system, messages }: WireRequest): readonly WireGroup[] {
  return [tools, system, ...messages];
}

/** Its number among the groups. */
function lastUserIn({ messages }: WireRequest): number {
  return messages.findLastIndex(({ role }) => role === "user") + sections;
}

const sections = 2;

/** Groups that are the same in both, and shown in both or in neither. */
function sharedGroups(before: WireRequest, now: WireRequest): number {
  if (before.tools !== now.tools || before.system !== now.system) return 0;
  const settled = Math.min(lastUserIn(before), lastUserIn(now));
  return Math.min(sharedMessages(now, before) + sections, settled);
}
