import { must } from "../../base/index.ts";
import { isCommandLine } from "../../commands/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import { isOwnLine } from "../../render/index.ts";
import { beginMerge, isSameUnit, merge, spokenForms, type Tolerance, textOf } from "../ledger/tolerance.ts";
import { type Aligned, align, apart, type Gap, type Naming } from "./align.ts";
import { type BodyUnit, bodyUnits, bytesIn } from "./body-units.ts";
import { markIn } from "./own-units.ts";
import type { SentFacts } from "./sent-facts.ts";

/** A body with its units, and what the log says of them; null: it is what a client sent. */
export type Side = {
  readonly request: WireRequest;
  readonly units: readonly BodyUnit[];
  readonly facts: readonly SentFacts[] | null;
};

type FactsFor = (units: readonly BodyUnit[]) => readonly SentFacts[];

export function sideOf(request: WireRequest, factsFor: FactsFor | null): Side {
  const units = bodyUnits(request);
  return { request, units, facts: factsFor === null ? null : factsFor(units) };
}

export type Sides = { readonly before: Side; readonly after: Side };

/** What stands for what; moved: at another place than before, among the tools. */
export type Paired = Aligned & { readonly isMoved: boolean };

const sections = ["tools", "system", "messages"] as const;

/** Aligns the units of two bodies, section by section. */
export function diffUnits(sides: Sides): readonly Paired[] {
  const isOwn = ownLineOf(sides.after);
  return sections.flatMap((section) => {
    const within = { before: spanOf(sides.before, section), after: spanOf(sides.after, section) };
    const sizes = { before: within.before.count, after: within.after.count };
    const lift = ({ before, after }: Aligned): Aligned => ({
      before: before.map((at) => at + within.before.from),
      after: after.map((at) => at + within.after.from),
    });
    const closer = (gap: Gap): readonly Aligned[] => close(sides, lift(gap), isOwn).map(lower);
    const lower = ({ before, after }: Aligned): Aligned => ({
      before: before.map((at) => at - within.before.from),
      after: after.map((at) => at - within.after.from),
    });
    const namings = namingsOf(sides).map((naming) => ({
      ...naming,
      before: (at: number) => naming.before(at + within.before.from),
      after: (at: number) => naming.after(at + within.after.from),
    }));
    const aligned = align(sizes, namings, closer).map(lift);
    const still = aligned.map((one) => ({ ...one, isMoved: false }));
    return section === "tools" ? withMoved(sides, still) : still;
  });
}

type Span = { readonly from: number; readonly count: number };

function spanOf({ units }: Side, section: (typeof sections)[number]): Span {
  const from = units.findIndex(({ unit }) => unit.section === section);
  const count = units.filter(({ unit }) => unit.section === section).length;
  return { from: Math.max(0, from), count };
}

/** From what cannot be mistaken to what is only likely. */
function namingsOf({ before, after }: Sides): readonly Naming[] {
  const unitAt = ({ units }: Side, at: number): BodyUnit => must(units[at], "it lies in the body");
  const isOurs = ({ facts }: Side, at: number): boolean => facts?.[at]?.origin === "aperture";
  // Beside what a client sent, nothing of ours has a counterpart; beside another request of ours, it has.
  const mayMatch = (at: number): boolean => before.facts !== null || !isOurs(after, at);
  const named = (nameOf: (side: Side, at: number) => string | null, isUnique: boolean): Naming => ({
    before: (at) => nameOf(before, at),
    after: (at) => (mayMatch(at) ? nameOf(after, at) : null),
    isUnique,
  });
  const byBytes = (side: Side, at: number): string => {
    const { unit } = unitAt(side, at);
    return `${unit.role} ${unit.hash}`;
  };
  const byContent = (side: Side, at: number): string | null =>
    side.facts === null ? unitAt(side, at).unit.hash : (side.facts[at]?.block?.content ?? null);
  const byKey = (side: Side, at: number): string => {
    const { unit } = unitAt(side, at);
    return `${unit.role} ${side.facts?.[at]?.key ?? unit.key}`;
  };
  const byCall = (side: Side, at: number): string | null => {
    const { type, callId } = unitAt(side, at).unit;
    return callId === null ? null : `${type} ${callId}`;
  };
  // By what a client's copies have in common first: equal bytes may be those of another copy.
  return [
    named(byKey, true),
    named(byKey, false),
    named(byBytes, false),
    named(byContent, false),
    named(byCall, false),
  ];
}

/** Recognises a line of ours in a body, by the mark that stands in those we have put in. */
export function ownLineOf({ request, units, facts }: Side): Tolerance["isOwnLine"] {
  const ours = units.filter((_, at) => facts?.[at]?.origin !== "client" && facts?.[at]?.origin !== "model");
  const mark = markIn(texts(request, ours));
  return mark === null ? () => false : (line) => isOwnLine(line, mark) || isCommandLine(line, mark);
}

function* texts(request: WireRequest, units: readonly BodyUnit[]): Generator<Uint8Array> {
  for (const unit of units) if (unit.unit.type === "text") yield bytesIn(request, unit);
}

/** More than these between two that are known are not looked at one by one. */
const closeMax = 64;

/** The liberties clients take: another form of the same words, or several texts joined into one. */
function close({ before, after }: Sides, gap: Gap, isOwn: Tolerance["isOwnLine"]): readonly Aligned[] {
  if (gap.before.length > closeMax || gap.after.length > closeMax) return apart(gap);
  const theirs = gap.after.filter((at) => after.facts?.[at]?.origin !== "aperture");
  const links = new Map<number, readonly number[]>();
  let next = 0;
  for (const one of gap.before) {
    const unit = must(before.units[one], "it lies in the body");
    const bytes = bytesIn(before.request, unit);
    for (let from = next; from < theirs.length; from += 1) {
      const found = sameFrom({ unit, bytes }, { side: after, at: theirs.slice(from) }, isOwn);
      if (found.length === 0) continue;
      links.set(one, found);
      next = theirs.indexOf(must(found.at(-1), "something was found")) + 1;
      break;
    }
  }
  return woven(gap, links, joinedAgain({ before, after }, gap, { links, theirs, isOwn }));
}

type Loose = {
  readonly links: ReadonlyMap<number, readonly number[]>;
  readonly theirs: readonly number[];
  readonly isOwn: Tolerance["isOwnLine"];
};

/** Texts that a client sends apart where one was sent, by the first of them. */
function joinedAgain({ before, after }: Sides, gap: Gap, loose: Loose): ReadonlyMap<number, Aligned> {
  const { links, theirs, isOwn } = loose;
  const taken = new Set([...links.values()].flat());
  const left = gap.before.filter((one) => !links.has(one));
  const joined = new Map<number, Aligned>();
  let from = 0;
  for (const at of theirs.filter((one) => !taken.has(one))) {
    const unit = must(after.units[at], "it lies in the body");
    const whole = unit.unit.type === "text" ? textOf(bytesIn(after.request, unit)) : null;
    for (let start = from; whole !== null && start < left.length; start += 1) {
      const found = mergedIn(whole, { side: before, at: left.slice(start) }, isOwn);
      const [first] = found;
      if (first === undefined) continue;
      joined.set(first, { before: found, after: [at] });
      from = start + found.length;
      break;
    }
  }
  return joined;
}

type Copy = { readonly unit: BodyUnit; readonly bytes: Uint8Array };
type Places = { readonly side: Side; readonly at: readonly number[] };

/** The units that say what a copy says, from the first of these on: one, several, or none. */
function sameFrom(
  { unit: { unit }, bytes }: Copy,
  { side, at }: Places,
  isOwn: Tolerance["isOwnLine"],
): readonly number[] {
  const [first] = at;
  const start = first === undefined ? undefined : side.units[first];
  if (first === undefined || start?.unit.role !== unit.role || start.unit.type !== unit.type) return [];
  const tolerance = { role: unit.role, isOwnLine: isOwn };
  if (isSameUnit(bytesIn(side.request, start), bytes, tolerance)) return [first];
  const whole = unit.type === "text" ? textOf(bytes) : null;
  return whole === null ? [] : mergedIn(whole, { side, at }, isOwn);
}

function mergedIn(whole: string, { side, at }: Places, isOwn: Tolerance["isOwnLine"]): readonly number[] {
  let merging = beginMerge(whole);
  const taken: number[] = [];
  for (const one of at) {
    const unit = must(side.units[one], "it lies in the body");
    const text = textOf(bytesIn(side.request, unit));
    if (text === null) continue;
    const forms = spokenForms(text, unit.unit.role === "assistant" ? isOwn : () => false);
    const steps = forms.map((form) => merge(merging, form));
    taken.push(one);
    if (steps.includes("merged")) return taken;
    const step = steps.find((each) => each !== "other" && each !== "merged");
    if (step === undefined || typeof step === "string") return [];
    merging = step;
  }
  return [];
}

/** Everything of a gap in the order of what was sent, what was left out where it stood. */
function woven(
  { before, after }: Gap,
  links: ReadonlyMap<number, readonly number[]>,
  joined: ReadonlyMap<number, Aligned>,
): readonly Aligned[] {
  const rows: Aligned[] = [];
  const isInside = new Set([...joined.values()].flatMap((one) => one.before.slice(1)));
  let next = 0;
  const insertUpTo = (end: number): void => {
    for (; next < end; next += 1) rows.push({ before: [], after: [must(after[next], "it lies in the gap")] });
  };
  for (const one of before) {
    const group = joined.get(one);
    const linked = group?.after ?? links.get(one) ?? [];
    const [first] = linked;
    if (first === undefined) {
      if (!isInside.has(one)) rows.push({ before: [one], after: [] });
      continue;
    }
    // What stands for it has been passed by: it was taken for something else.
    if (after.indexOf(first) < next) {
      rows.push(...(group?.before ?? [one]).map((each) => ({ before: [each], after: [] })));
      continue;
    }
    insertUpTo(after.indexOf(first));
    const end = after.indexOf(must(linked.at(-1), "something is linked")) + 1;
    rows.push({ before: group?.before ?? [one], after: linked });
    // What lies among several texts that were joined is not one of them.
    for (const other of after.slice(next, end))
      if (!linked.includes(other)) rows.push({ before: [], after: [other] });
    next = end;
  }
  insertUpTo(after.length);
  return rows;
}

/** A tool that stands at another place is the same tool. */
function withMoved({ before, after }: Sides, rows: readonly Paired[]): readonly Paired[] {
  const nameOf = ({ unit }: BodyUnit): string => unit.key.slice(0, unit.key.lastIndexOf(":"));
  const left = new Map<string, number>();
  for (const row of rows) {
    const [one] = row.before;
    if (one !== undefined && row.after.length === 0)
      left.set(nameOf(must(before.units[one], "it is there")), one);
  }
  const moved = new Set<number>();
  const found = rows.map((row) => {
    const [one] = row.after;
    const name =
      one === undefined || row.before.length > 0 ? null : nameOf(must(after.units[one], "it is there"));
    const from = name === null ? undefined : left.get(name);
    if (from === undefined || name === null) return row;
    left.delete(name);
    moved.add(from);
    return { ...row, before: [from], isMoved: true };
  });
  return found.filter((row) => row.after.length > 0 || !moved.has(row.before[0] ?? -1));
}
