import { must } from "../../base/index.ts";
import { isCommandLine } from "../../commands/index.ts";
import { mergeNext, startMerge, textForms, textOfUnit } from "../../ledger/index.ts";
import { isOwnLine } from "../../notes/index.ts";
import { protocolOf, type Tolerance, type WireRequest, type WireUnit } from "../../protocols/index.ts";
import {
  type AlignmentGap,
  alignLists,
  type ListAlignment,
  type MatchRule,
  unmatched,
} from "./align-lists.ts";
import { type BodyUnit, bodyUnitBytes, bodyUnits } from "./body-units.ts";
import { nonceIn } from "./own-units.ts";
import type { SentFacts } from "./sent-facts.ts";

/** One of the two bodies that are compared. */
export type DiffSide = {
  readonly request: WireRequest;
  readonly units: readonly BodyUnit[];
  /** The log's facts about each unit; null for a body as the client sent it. */
  readonly facts: readonly SentFacts[] | null;
};

type FactsFor = (units: readonly BodyUnit[]) => readonly SentFacts[];

export function sideOf(request: WireRequest, factsFor: FactsFor | null): DiffSide {
  const units = bodyUnits(request);
  return { request, units, facts: factsFor === null ? null : factsFor(units) };
}

export type DiffSides = { readonly before: DiffSide; readonly after: DiffSide };

export type UnitPair = ListAlignment & {
  /** Whether a tool stands at another position than before. */
  readonly isMoved: boolean;
};

const sections = ["tools", "system", "messages"] as const;

/** Aligns the units of two bodies, section by section. */
export function diffUnits(sides: DiffSides): readonly UnitPair[] {
  const isOwn = ownLineTest(sides.after);
  return sections.flatMap((section) => {
    const within = { before: spanOf(sides.before, section), after: spanOf(sides.after, section) };
    const sizes = { before: within.before.count, after: within.after.count };
    const lift = ({ before, after }: ListAlignment): ListAlignment => ({
      before: before.map((at) => at + within.before.from),
      after: after.map((at) => at + within.after.from),
    });
    const matchGap = (gap: AlignmentGap): readonly ListAlignment[] =>
      matchLoosely(sides, lift(gap), isOwn).map(lower);
    const lower = ({ before, after }: ListAlignment): ListAlignment => ({
      before: before.map((at) => at - within.before.from),
      after: after.map((at) => at - within.after.from),
    });
    const rules = matchRules(sides).map((rule) => ({
      ...rule,
      before: (at: number) => rule.before(at + within.before.from),
      after: (at: number) => rule.after(at + within.after.from),
    }));
    const aligned = alignLists(sizes, rules, matchGap).map(lift);
    const pairings = aligned.map((alignment) => ({ ...alignment, isMoved: false }));
    return section === "tools" ? pairMovedTools(sides, pairings) : pairings;
  });
}

type SectionSpan = { readonly from: number; readonly count: number };

function spanOf({ units }: DiffSide, section: (typeof sections)[number]): SectionSpan {
  const from = units.findIndex(({ unit }) => unit.section === section);
  const count = units.filter(({ unit }) => unit.section === section).length;
  return { from: Math.max(0, from), count };
}

/** The rules from certain to likely. */
function matchRules({ before, after }: DiffSides): readonly MatchRule[] {
  const unitAt = ({ units }: DiffSide, at: number): BodyUnit => must(units[at], "it lies in the body");
  const isOurs = ({ facts }: DiffSide, at: number): boolean => facts?.[at]?.origin === "aperture";
  // Units of ours have a counterpart only in another request that was sent, not in the client's body.
  const mayMatch = (at: number): boolean => before.facts !== null || !isOurs(after, at);
  const ruleBy = (nameOf: (side: DiffSide, at: number) => string | null, isUnique: boolean): MatchRule => ({
    before: (at) => nameOf(before, at),
    after: (at) => (mayMatch(at) ? nameOf(after, at) : null),
    isUnique,
  });
  const byBytes = (side: DiffSide, at: number): string => {
    const { unit } = unitAt(side, at);
    return `${unit.role} ${unit.hash}`;
  };
  const byContent = (side: DiffSide, at: number): string | null =>
    side.facts === null ? unitAt(side, at).unit.hash : (side.facts[at]?.block?.content ?? null);
  const byKey = (side: DiffSide, at: number): string => {
    const { unit } = unitAt(side, at);
    return `${unit.role} ${side.facts?.[at]?.key ?? unit.key}`;
  };
  const byCall = (side: DiffSide, at: number): string | null => {
    const { wireType, callId } = unitAt(side, at).unit;
    return callId === null ? null : `${wireType} ${callId}`;
  };
  // Keys come first: equal bytes may belong to another copy of the same content.
  return [
    ruleBy(byKey, true),
    ruleBy(byKey, false),
    ruleBy(byBytes, false),
    ruleBy(byContent, false),
    ruleBy(byCall, false),
  ];
}

/** Makes a test for lines of ours, from the nonce in the lines that we inserted into a body. */
export function ownLineTest({ request, units, facts }: DiffSide): Tolerance["isOwnLine"] {
  const ours = units.filter((_, at) => facts?.[at]?.origin !== "client" && facts?.[at]?.origin !== "model");
  const nonce = nonceIn(texts(request, ours));
  return nonce === null ? () => false : (line) => isOwnLine(line, nonce) || isCommandLine(line, nonce);
}

function* texts(request: WireRequest, units: readonly BodyUnit[]): Generator<string> {
  for (const { unit, ...placed } of units) {
    const text = isText(unit) ? textOfUnit(unit, bodyUnitBytes(request, { unit, ...placed })) : null;
    if (text !== null) yield text;
  }
}

function isText({ part }: WireUnit): boolean {
  return part === "text" || part === "instruction";
}

/** A gap with more units is not compared unit by unit. */
const looseMatchMax = 64;

/** Matches units that a client has changed: another form of the text, or several texts joined into one. */
function matchLoosely(
  { before, after }: DiffSides,
  gap: AlignmentGap,
  isOwn: Tolerance["isOwnLine"],
): readonly ListAlignment[] {
  if (gap.before.length > looseMatchMax || gap.after.length > looseMatchMax) return unmatched(gap);
  const theirs = gap.after.filter((at) => after.facts?.[at]?.origin !== "aperture");
  const links = new Map<number, readonly number[]>();
  let next = 0;
  for (const index of gap.before) {
    const unit = must(before.units[index], "it lies in the body");
    const bytes = bodyUnitBytes(before.request, unit);
    for (let from = next; from < theirs.length; from += 1) {
      const found = matchFrom({ unit, bytes }, { side: after, at: theirs.slice(from) }, isOwn);
      if (found.length === 0) continue;
      links.set(index, found);
      next = theirs.indexOf(must(found.at(-1), "something was found")) + 1;
      break;
    }
  }
  return weave(gap, links, matchSplitTexts({ before, after }, gap, { links, theirs, isOwn }));
}

type LooseMatches = {
  /** The matched units of the second body, by index in the first. */
  readonly links: ReadonlyMap<number, readonly number[]>;
  /** Units of the gap in the second body that are not ours. */
  readonly theirs: readonly number[];
  readonly isOwn: Tolerance["isOwnLine"];
};

/** Matches texts that a client has split, although they were sent as one; keyed by the first of them. */
function matchSplitTexts(
  { before, after }: DiffSides,
  gap: AlignmentGap,
  loose: LooseMatches,
): ReadonlyMap<number, ListAlignment> {
  const { links, theirs, isOwn } = loose;
  const taken = new Set([...links.values()].flat());
  const open = gap.before.filter((index) => !links.has(index));
  const joined = new Map<number, ListAlignment>();
  let from = 0;
  for (const at of theirs.filter((index) => !taken.has(index))) {
    const unit = must(after.units[at], "it lies in the body");
    const whole = isText(unit.unit) ? textOfUnit(unit.unit, bodyUnitBytes(after.request, unit)) : null;
    for (let start = from; whole !== null && start < open.length; start += 1) {
      const found = matchMerged(whole, { side: before, at: open.slice(start) }, isOwn);
      const [first] = found;
      if (first === undefined) continue;
      joined.set(first, { before: found, after: [at] });
      from = start + found.length;
      break;
    }
  }
  return joined;
}

type ClientUnitCopy = { readonly unit: BodyUnit; readonly bytes: Uint8Array };
type SideUnits = { readonly side: DiffSide; readonly at: readonly number[] };

/** The units with the same text as a client's copy, from the first of these on: one, several, or none. */
function matchFrom(
  { unit: { unit }, bytes }: ClientUnitCopy,
  { side, at }: SideUnits,
  isOwn: Tolerance["isOwnLine"],
): readonly number[] {
  const [first] = at;
  const start = first === undefined ? undefined : side.units[first];
  if (first === undefined || start?.unit.role !== unit.role || start.unit.wireType !== unit.wireType)
    return [];
  const tolerance = { role: unit.role, isOwnLine: isOwn };
  if (protocolOf(unit).read.isSame(bodyUnitBytes(side.request, start), bytes, tolerance)) return [first];
  const whole = isText(unit) ? textOfUnit(unit, bytes) : null;
  return whole === null ? [] : matchMerged(whole, { side, at }, isOwn);
}

function matchMerged(
  whole: string,
  { side, at }: SideUnits,
  isOwn: Tolerance["isOwnLine"],
): readonly number[] {
  let merging = startMerge(whole);
  const taken: number[] = [];
  for (const index of at) {
    const unit = must(side.units[index], "it lies in the body");
    const text = textOfUnit(unit.unit, bodyUnitBytes(side.request, unit));
    if (text === null) continue;
    const forms = textForms(text, unit.unit.role === "assistant" ? isOwn : () => false);
    const steps = forms.map((form) => mergeNext(merging, form));
    taken.push(index);
    if (steps.includes("merged")) return taken;
    const step = steps.find((each) => each !== "other" && each !== "merged");
    if (step === undefined || typeof step === "string") return [];
    merging = step;
  }
  return [];
}

/** Lists a gap in the order of the second body, with removals at their old position. */
function weave(
  { before, after }: AlignmentGap,
  links: ReadonlyMap<number, readonly number[]>,
  joined: ReadonlyMap<number, ListAlignment>,
): readonly ListAlignment[] {
  const rows: ListAlignment[] = [];
  const isInside = new Set([...joined.values()].flatMap((group) => group.before.slice(1)));
  let next = 0;
  const insertUpTo = (end: number): void => {
    for (; next < end; next += 1) rows.push({ before: [], after: [must(after[next], "it lies in the gap")] });
  };
  for (const index of before) {
    const group = joined.get(index);
    const linked = group?.after ?? links.get(index) ?? [];
    const [first] = linked;
    if (first === undefined) {
      if (!isInside.has(index)) rows.push({ before: [index], after: [] });
      continue;
    }
    // Its match was already used for another unit.
    if (after.indexOf(first) < next) {
      rows.push(...(group?.before ?? [index]).map((each) => ({ before: [each], after: [] })));
      continue;
    }
    insertUpTo(after.indexOf(first));
    const end = after.indexOf(must(linked.at(-1), "something is linked")) + 1;
    rows.push({ before: group?.before ?? [index], after: linked });
    // Units between joined texts are insertions.
    for (const other of after.slice(next, end))
      if (!linked.includes(other)) rows.push({ before: [], after: [other] });
    next = end;
  }
  insertUpTo(after.length);
  return rows;
}

/** Pairs a removed and an inserted tool of the same name: it only moved. */
function pairMovedTools({ before, after }: DiffSides, rows: readonly UnitPair[]): readonly UnitPair[] {
  const nameOf = ({ unit }: BodyUnit): string => unit.key.slice(0, unit.key.lastIndexOf(":"));
  const removed = new Map<string, number>();
  for (const row of rows) {
    const [index] = row.before;
    if (index !== undefined && row.after.length === 0)
      removed.set(nameOf(must(before.units[index], "it is there")), index);
  }
  const moved = new Set<number>();
  const paired = rows.map((row) => {
    const [index] = row.after;
    const name =
      index === undefined || row.before.length > 0 ? null : nameOf(must(after.units[index], "it is there"));
    const from = name === null ? undefined : removed.get(name);
    if (from === undefined || name === null) return row;
    removed.delete(name);
    moved.add(from);
    return { ...row, before: [from], isMoved: true };
  });
  return paired.filter((row) => row.after.length > 0 || !moved.has(row.before[0] ?? -1));
}
