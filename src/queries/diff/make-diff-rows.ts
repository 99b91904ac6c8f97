import { cutText, limits, must } from "../../base/index.ts";
import { partText } from "../../content/index.ts";
import type { Moment } from "../../engine/moment/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { ChangeRow, DiffRow, DiffText, DiffTotals, MarkRow, SameRow } from "../answers/diff-answers.ts";
import type { BodyDiff, DiffEntry } from "./body-diff.ts";
import { bodyUnitBytes, sectionAt } from "./body-units.ts";
import type { DiffSide, DiffSides } from "./diff-units.ts";
import { estimateUnits } from "./side-tokens.ts";

export type DiffRowsInput = DiffSides & {
  readonly diff: BodyDiff;
  readonly moment: Moment;
  /** Tokens the provider counted, and those it served from its cache; null if it has not reported. */
  readonly reported: { readonly prompt: number; readonly cached: number } | null;
  /** Provider tokens per estimated token, as known when the request was sent. */
  readonly rate: number;
  /** The first byte that differs. */
  readonly firstByte: number;
};

export type DiffRowsResult = {
  readonly rows: readonly DiffRow[];
  readonly left: number;
  readonly totals: DiffTotals;
  readonly estimated: number;
  readonly first: { readonly row: number | null; readonly block: number | null };
};

/** The limit for one text of an answer, and for all of them together. */
const textCharsMax = 8_000;
const textsCharsMax = 1_000_000;

/** The rows of a diff, bounded. Neighbouring units that are the same on both sides share a row. */
export function diffRows(input: DiffRowsInput): DiffRowsResult {
  const { fields, entries } = input.diff;
  const { sized, estimated, counted } = fitEntries(input);
  const rows: DiffRow[] = [...fields];
  const writer = new TextWriter();
  const first = firstUnit(input);
  let firstRow: number | null = first === null && fields.length > 0 ? 0 : null;
  let run: SizedEntry[] = [];
  let passed = 0;
  const flush = (): void => {
    if (run.length > 0) rows.push(sameRow(input, run, cachedPart(input, counted, { run, passed })));
    passed += run.reduce((sum, { tokens }) => sum + tokens.after, 0);
    run = [];
  };
  for (const sizedEntry of sized) {
    const { entry } = sizedEntry;
    const isFirst = first !== null && entry.after.includes(first);
    if (entry.reasons.length === 0) {
      run.push(sizedEntry);
      if (isFirst) firstRow = rows.length;
      if (entry.mark === null) continue;
      flush();
      rows.push(markRow(input, entry, entry.mark));
      continue;
    }
    flush();
    if (isFirst) firstRow = rows.length;
    rows.push(changeRow(input, sizedEntry, writer));
    if (entry.mark !== null) rows.push(markRow(input, entry, entry.mark));
    passed += sizedEntry.tokens.after;
  }
  flush();
  const shown = rows.slice(0, limits.rowsPerAnswerMax);
  const block = first === null ? null : blockAt(input.after, first);
  const isInside = firstRow !== null && firstRow < shown.length;
  return {
    rows: shown,
    left: rows.length - shown.length,
    totals: totalsOf(sized, entries),
    estimated,
    first: { row: isInside ? firstRow : null, block },
  };
}

type SideTokens = { readonly before: number; readonly after: number };
type SizedEntry = { readonly entry: DiffEntry; readonly tokens: SideTokens };

/**
 * Units never add up to more than the whole prompt, as in a state row: the provider's count, or else the
 * expected count.
 */
function fitEntries(input: DiffRowsInput) {
  const raw = sizedEntries(input);
  const guessed = raw.reduce((sum, { tokens }) => sum + tokens.after, 0);
  const estimated = Math.round(guessed * input.rate);
  const counted = Math.min(guessed, input.reported?.prompt ?? estimated);
  const share = guessed === 0 ? 1 : counted / guessed;
  const fitted = (tokens: number): number => Math.floor(tokens * share);
  const sized = raw.map(({ entry, tokens }): SizedEntry => {
    return { entry, tokens: { before: fitted(tokens.before), after: fitted(tokens.after) } };
  });
  return { sized, estimated, counted };
}

function sizedEntries({ before, after, diff, moment }: DiffRowsInput): readonly SizedEntry[] {
  const sizes = { before: estimateUnits(before, moment), after: estimateUnits(after, moment) };
  const sum = (list: readonly number[], sizeOf: (at: number) => number): number =>
    list.reduce((all, at) => all + sizeOf(at), 0);
  return diff.entries.map((entry) => {
    const tokensAfter = sum(entry.after, sizes.after);
    // Equal units have the same size on both sides and are counted once.
    const tokens =
      entry.reasons.length === 0
        ? { before: tokensAfter, after: tokensAfter }
        : { before: sum(entry.before, sizes.before), after: tokensAfter };
    return { entry, tokens };
  });
}

/** The unit that holds or follows the first differing byte; null if that byte is in another field. */
function firstUnit({ after, firstByte }: DiffRowsInput): number | null {
  const section = sectionAt(after.request, firstByte);
  if (section === null) return null;
  const index = after.units.findIndex((unit) => {
    const { at, length } = unit.unit.slices.at(-1) ?? { at: 0, length: 0 };
    return unit.unit.section === section && unit.group.range.start + at + length > firstByte;
  });
  if (index !== -1) return index;
  return after.units.findLastIndex(({ unit }) => unit.section === section);
}

function blockAt({ facts }: DiffSide, at: number): number | null {
  return facts?.[at]?.block?.id ?? null;
}

type SameRun = {
  readonly run: readonly SizedEntry[];
  /** Tokens before the run. */
  readonly passed: number;
};

/** Provider counts differ from ours, so they are scaled. A difference of two percent does not matter. */
function cachedPart(
  { reported }: DiffRowsInput,
  counted: number,
  { run, passed }: SameRun,
): SameRow["cached"] {
  if (reported === null || reported.prompt === 0) return null;
  const cached = (reported.cached * counted) / reported.prompt;
  const tokens = run.reduce((sum, entry) => sum + entry.tokens.after, 0);
  if (cached <= passed) return "none";
  return cached * 1.02 >= passed + tokens ? "all" : "some";
}

function sameRow({ after }: DiffRowsInput, run: readonly SizedEntry[], cached: SameRow["cached"]): SameRow {
  const units = run.flatMap(({ entry }) => entry.after);
  const blocks = units.flatMap((index) => blockAt(after, index) ?? []);
  return {
    type: "same",
    count: units.length,
    tokens: run.reduce((sum, { tokens }) => sum + tokens.after, 0),
    bytes: units.reduce((sum, index) => sum + (after.units[index]?.unit.length ?? 0), 0),
    from: blocks[0] ?? null,
    to: blocks.at(-1) ?? null,
    reformed: run.filter(({ entry }) => entry.isReformed).length,
    cached,
  };
}

function changeRow(
  { before, after }: DiffRowsInput,
  { entry, tokens }: SizedEntry,
  writer: TextWriter,
): ChangeRow {
  const [here] = entry.after;
  const side = here === undefined ? before : after;
  const at = here ?? must(entry.before[0], "a row stands for something");
  const { unit } = must(side.units[at], "it lies in the body");
  const facts = side.facts?.[at];
  const type = entry.before.length === 0 ? "inserted" : here === undefined ? "removed" : "changed";
  return {
    type,
    section: unit.section,
    role: unit.role,
    kind: unit.kind,
    block: facts?.block?.id ?? null,
    as: facts?.block ? facts.as : null,
    isOurs: type === "inserted" && isOurs(entry),
    before: writer.text(before, entry.before),
    after: writer.text(after, entry.after),
    tokens,
    reasons: entry.reasons,
  };
}

const ourCodes: ReadonlySet<string> = new Set([
  "tools",
  "instructions",
  "header",
  "manifest",
  "change-note",
  "command",
  "answer",
  "own",
]);

function isOurs({ reasons }: DiffEntry): boolean {
  return reasons.some(({ code }) => ourCodes.has(code));
}

function markRow(
  { after, before }: DiffRowsInput,
  entry: DiffEntry,
  mark: NonNullable<DiffEntry["mark"]>,
): MarkRow {
  const [here] = entry.after;
  const [there] = entry.before;
  const block = here === undefined ? blockAt(before, there ?? -1) : blockAt(after, here);
  return { type: "mark", block, ...mark };
}

/** Writes the texts of units until the limit for all texts is reached. */
class TextWriter {
  #left = textsCharsMax;

  text(side: DiffSide, at: readonly number[]): DiffText | null {
    if (at.length === 0) return null;
    const units = at.map((index) => must(side.units[index], "it lies in the body"));
    const bytes = units.reduce((sum, { unit }) => sum + unit.length, 0);
    const whole = units.map((unit) => this.#textOf(side, unit)).join("\n");
    const text = cutText(whole, Math.min(textCharsMax, this.#left));
    this.#left -= text.length;
    return { text, bytes, isCut: text.length < whole.length };
  }

  #textOf(side: DiffSide, unit: (typeof side.units)[number]): string {
    const bytes = bodyUnitBytes(side.request, unit);
    return partText(protocolOf(unit.unit).read.part(bytes)) ?? Buffer.from(bytes).toString("utf8");
  }
}

function totalsOf(sized: readonly SizedEntry[], entries: readonly DiffEntry[]): DiffTotals {
  const only = (holds: (entry: DiffEntry) => boolean): readonly SizedEntry[] =>
    sized.filter(({ entry }) => holds(entry));
  const same = only(({ reasons }) => reasons.length === 0);
  const inserted = only(({ before }) => before.length === 0);
  const removed = only(({ after }) => after.length === 0);
  const sum = (list: readonly SizedEntry[], side: "before" | "after"): number =>
    list.reduce((all, { tokens }) => all + tokens[side], 0);
  return {
    same: same.length,
    sameTokens: sum(same, "after"),
    changed: entries.length - same.length - inserted.length - removed.length,
    inserted: inserted.length,
    insertedTokens: sum(inserted, "after"),
    removed: removed.length,
    removedTokens: sum(removed, "before"),
  };
}
