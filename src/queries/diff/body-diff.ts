import { must } from "../../base/index.ts";
import type { BodyFieldUse } from "../../protocols/index.ts";
import type { DiffReason, FieldRow } from "../answers/diff-answers.ts";
import { bodyFields } from "./body-units.ts";
import { plainReason } from "./diff-reason.ts";
import { type DiffSide, diffUnits, type UnitPair } from "./diff-units.ts";
import { type ReasonContext, unitReasons } from "./unit-reasons.ts";

/** Paired units and the reasons why they differ; without reasons they are the same. */
export type DiffEntry = UnitPair & {
  readonly reasons: readonly DiffReason[];
  /** The same text, sent as a block where the client wrote a bare string. */
  readonly isReformed: boolean;
  readonly mark: MarkChange | null;
};
export type MarkChange = {
  readonly before: string | null;
  readonly after: string | null;
  readonly reasons: readonly DiffReason[];
};

/** The differences between two bodies: units, cache marks on them, and other fields. */
export type BodyDiff = { readonly entries: readonly DiffEntry[]; readonly fields: readonly FieldRow[] };

export function bodyDiff(context: ReasonContext): BodyDiff {
  const automatic = context.before.request.automaticMark;
  const pairings = diffUnits(context);
  const matched = pairings.filter(({ before }) => before.length > 0);
  const lastPaired = Math.max(-1, ...matched.flatMap(({ after }) => after).slice(-1));
  const entries = pairings.map((pairing) => ({
    ...pairing,
    reasons: unitReasons({ ...context, lastPaired }, pairing),
    isReformed: isReformed(context, pairing),
    mark: markChange(context, pairing, automatic),
  }));
  return { entries, fields: fieldRows(context) };
}

function isReformed({ before, after }: ReasonContext, pairing: UnitPair): boolean {
  const isBare = ({ units }: DiffSide, [at]: readonly number[]): boolean =>
    (units[at ?? -1]?.unit.around ?? null) !== null;
  return isBare(before, pairing.before) && !isBare(after, pairing.after) && pairing.after.length > 0;
}

/** Cache marks are no part of a unit. The client's keep their place; units of ours never get one. */
function markChange(
  { before, after }: ReasonContext,
  pairing: UnitPair,
  automatic: string | null,
): MarkChange | null {
  const [had, has] = [markOn(before, pairing.before), markOn(after, pairing.after)];
  if (had === has) return null;
  return {
    before: had,
    after: has,
    reasons: [markReason({ had, has, automatic, isPrevious: before.facts !== null })],
  };
}

function markOn({ units }: DiffSide, at: readonly number[]): string | null {
  const marks = at.map((index) => must(units[index], "it lies in the body").unit.mark);
  return marks.findLast((mark) => mark !== null) ?? null;
}

type MarkReasonInput = {
  readonly had: string | null;
  readonly has: string | null;
  readonly automatic: string | null;
  /** Whether two requests are compared, not a request with the client's body. */
  readonly isPrevious: boolean;
};

function markReason({ had, has, automatic, isPrevious }: MarkReasonInput): DiffReason {
  if (isPrevious)
    return { ...markReasonBase, words: "Clients move their cache marks to the newest messages." };
  if (has === null)
    return { ...markReasonBase, words: "The client's cache mark is on a block that is not sent." };
  if (had !== null) return { ...markReasonBase, words: "Aperture uses another cache mark here." };
  return automatic === null
    ? { ...markReasonBase, words: "Aperture's cache mark: the provider caches everything before it." }
    : {
        ...markReasonBase,
        words:
          "The client asks for a mark on the last block, which is Aperture's; its own last block is marked.",
      };
}

const markReasonBase: DiffReason = { code: "mark", words: "", by: null, seq: null, why: null };

const otherField: DiffReason = { ...plainReason("client"), words: "The client changed it." };

function fieldRows({ before, after, isRound }: ReasonContext): readonly FieldRow[] {
  const [had, has] = [bodyFields(before.request), bodyFields(after.request)];
  const names = [...new Set([...had.keys(), ...has.keys()])];
  return names.flatMap((name) => {
    const [old, now] = [had.get(name) ?? null, has.get(name) ?? null];
    const values = { before: old?.value ?? null, after: now?.value ?? null };
    if (values.before === values.after) return [];
    const use = (now ?? old)?.use ?? "other";
    const isOurs = before.facts === null || (use === "answer-limit" && isRound);
    const reasons = [isOurs ? fieldReason(use, values.after) : otherField];
    return [{ type: "field" as const, name, ...values, reasons }];
  });
}

function fieldReason(use: BodyFieldUse, after: string | null): DiffReason {
  if (use === "automatic-mark" && after === null) {
    return {
      ...markReasonBase,
      words: "It asks for a mark on the last block, which is Aperture's; the client's last block is marked.",
    };
  }
  if (use === "context-edit") return plainReason("edit");
  return plainReason(use === "answer-limit" ? "room" : "unknown");
}
