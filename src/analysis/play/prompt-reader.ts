import { sharedMessageCount, type WireGroup, type WireRequest } from "../../protocols/index.ts";
import { type PlayedPrompt, promptAfter } from "./simulated-cache.ts";
import type { SizedPromptUnit, UnitSizer } from "./unit-sizer.ts";

type ReadPrompt = {
  readonly request: WireRequest;
  readonly prompt: PlayedPrompt<SizedPromptUnit>;
  /** The index after the last unit of each group: tools, system, then the messages. */
  readonly ends: readonly number[];
};

/** Reads the requests of one stream. The part that a request shares with the one before is not read again. */
export class PromptReader {
  readonly #sizer: UnitSizer;
  #before: ReadPrompt | null = null;

  constructor(sizer: UnitSizer) {
    this.#sizer = sizer;
  }

  /** Reads the units in the order of a provider: tools, system, messages. */
  read(request: WireRequest): PlayedPrompt<SizedPromptUnit> {
    const groups = groupsOf(request);
    const lastUser = lastUserIn(request);
    const shared = this.#before === null ? 0 : sharedGroups(this.#before.request, request);
    const ends = this.#before?.ends.slice(0, shared) ?? [];
    const units = this.#before?.prompt.units.slice(0, ends.at(-1) ?? 0) ?? [];
    for (const [at, group] of groups.slice(shared).entries()) {
      // A self-clearing message only counts after the last message of the user.
      const isGone = group.isSelfClearing === true && shared + at < lastUser;
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

/** The index of the user's last message among the groups. */
function lastUserIn({ messages }: WireRequest): number {
  return messages.findLastIndex(({ role }) => role === "user") + sections;
}

const sections = 2;

/** How many groups are the same in both requests, and shown in both or in neither. */
function sharedGroups(before: WireRequest, now: WireRequest): number {
  if (before.tools !== now.tools || before.system !== now.system) return 0;
  const settled = Math.min(lastUserIn(before), lastUserIn(now));
  return Math.min(sharedMessageCount(now, before) + sections, settled);
}
