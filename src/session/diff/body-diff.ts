import { must } from "../../base/index.ts";
import { fieldsIn } from "./body-units.ts";
import { diffUnits, type Paired, type Side } from "./diff-units.ts";
import { type DiffReason, plainReason } from "./reason.ts";
import type { FieldRow } from "./rows.ts";
import { type Reasoning, unitReasons } from "./unit-reasons.ts";

/** What stands for what, and why it is not the same; without reasons it is. */
export type DiffEntry = Paired & {
  readonly reasons: readonly DiffReason[];
  /** Said in the same words, but written as a block where it was a bare text. */
  readonly isReformed: boolean;
  readonly mark: MarkChange | null;
};
export type MarkChange = {
  readonly before: string | null;
  readonly after: string | null;
  readonly reasons: readonly DiffReason[];
};

/** All that differs between two bodies: their units, the cache marks on them, and their other fields. */
export type BodyDiff = { readonly entries: readonly DiffEntry[]; readonly fields: readonly FieldRow[] };

export function bodyDiff(asked: Reasoning): BodyDiff {
  const automatic = fieldsIn(asked.before.request).get("cache_control") ?? null;
  const all = diffUnits(asked);
  const said = all.filter(({ before }) => before.length > 0);
  const lastPaired = Math.max(-1, ...said.flatMap(({ after }) => after).slice(-1));
  const entries = all.map((paired) => ({
    ...paired,
    reasons: unitReasons({ ...asked, lastPaired }, paired),
    isReformed: isReformed(asked, paired),
    mark: markChange(asked, paired, automatic),
  }));
  return { entries, fields: fieldRows(asked) };
}

function isReformed({ before, after }: Reasoning, paired: Paired): boolean {
  const isBare = ({ units }: Side, [at]: readonly number[]): boolean => units[at ?? -1]?.unit.bare === true;
  return isBare(before, paired.before) && !isBare(after, paired.after) && paired.after.length > 0;
}

/** Marks are no part of a unit. The client's are put where it had them; what is ours never takes one. */
function markChange(
  { before, after }: Reasoning,
  paired: Paired,
  automatic: string | null,
): MarkChange | null {
  const [had, has] = [markOn(before, paired.before), markOn(after, paired.after)];
  if (had === has) return null;
  return {
    before: had,
    after: has,
    reasons: [markReason({ had, has, automatic, isPrevious: before.facts !== null })],
  };
}

function markOn({ units }: Side, at: readonly number[]): string | null {
  const marks = at.map((one) => must(units[one], "it lies in the body").unit.mark);
  return marks.findLast((mark) => mark !== null) ?? null;
}

type Marks = {
  readonly had: string | null;
  readonly has: string | null;
  readonly automatic: string | null;
  /** Whether it is compared with another request. */
  readonly isPrevious: boolean;
};

function markReason({ had, has, automatic, isPrevious }: Marks): DiffReason {
  if (isPrevious) return { ...mark, words: "Clients move their cache marks along with what is new." };
  if (has === null) return { ...mark, words: "The client's mark stands on nothing that is sent." };
  if (had !== null) return { ...mark, words: "Another mark stands here." };
  return automatic === null
    ? { ...mark, words: "A mark of ours: it keeps what stands before it in the cache." }
    : {
        ...mark,
        words:
          "The client has the provider mark what comes last, which would be ours: its own last words are marked.",
      };
}

const mark: DiffReason = { code: "mark", words: "", by: null, seq: null, why: null };

const otherField: DiffReason = { ...plainReason("client"), words: "The client says otherwise this time." };

function fieldRows({ before, after, isRound }: Reasoning): readonly FieldRow[] {
  const [had, has] = [fieldsIn(before.request), fieldsIn(after.request)];
  const names = [...new Set([...had.keys(), ...has.keys()])];
  return names.flatMap((name) => {
    const change = { before: had.get(name) ?? null, after: has.get(name) ?? null };
    if (change.before === change.after) return [];
    const isOurs = before.facts === null || (name === "max_tokens" && isRound);
    const reasons = [isOurs ? fieldReason(name, change) : otherField];
    return [{ type: "field" as const, name, ...change, reasons }];
  });
}

type Change = { readonly before: string | null; readonly after: string | null };

function fieldReason(name: string, { after }: Change): DiffReason {
  if (name === "cache_control" && after === null) {
    return {
      ...mark,
      words: "It has the provider mark what comes last, which would be ours; a mark is set instead.",
    };
  }
  if (name === "context_management") return plainReason("edit");
  return plainReason(name === "max_tokens" ? "room" : "unknown");
}
