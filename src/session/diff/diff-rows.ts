import { cutText, limits, must } from "../../base/index.ts";
import type { Moment } from "../../engine/index.ts";
import { storedWords } from "../read/stored-words.ts";
import type { BodyDiff, DiffEntry } from "./body-diff.ts";
import { bytesIn } from "./body-units.ts";
import type { Side, Sides } from "./diff-units.ts";
import type { ChangeRow, DiffRow, DiffText, DiffTotals, MarkRow, SameRow } from "./rows.ts";
import { guessedSizes } from "./side-tokens.ts";

export type RowsAsked = Sides & {
  readonly diff: BodyDiff;
  readonly moment: Moment;
  /** Tokens the provider counted, and those it served from its cache; null: it has not said. */
  readonly reported: { readonly prompt: number; readonly cached: number } | null;
  /** Tokens the provider counted for each that we guess, as far as was known when it was sent. */
  readonly rate: number;
  /** The first byte that differs. */
  readonly firstByte: number;
};

export type Rows = {
  readonly rows: readonly DiffRow[];
  readonly left: number;
  readonly totals: DiffTotals;
  readonly estimated: number;
  readonly first: { readonly row: number | null; readonly block: number | null };
};

/** What a text may take of an answer, and all of them together. */
const textCharsMax = 8_000;
const textsCharsMax = 1_000_000;

/** The rows of a diff, bounded: neighbours that are the same on both sides are one. */
export function diffRows(asked: RowsAsked): Rows {
  const { fields, entries } = asked.diff;
  const { sized, estimated, counted } = fittedEntries(asked);
  const rows: DiffRow[] = [...fields];
  const writer = new TextWriter();
  const first = firstUnit(asked);
  let firstRow: number | null = first === null && fields.length > 0 ? 0 : null;
  let run: SizedEntry[] = [];
  let passed = 0;
  const flush = (): void => {
    if (run.length > 0) rows.push(sameRow(asked, run, cachedOf(asked, counted, { run, passed })));
    passed += run.reduce((sum, { tokens }) => sum + tokens.after, 0);
    run = [];
  };
  for (const one of sized) {
    const { entry } = one;
    const isFirst = first !== null && entry.after.includes(first);
    if (entry.reasons.length === 0) {
      run.push(one);
      if (isFirst) firstRow = rows.length;
      if (entry.mark === null) continue;
      flush();
      rows.push(markRow(asked, entry, entry.mark));
      continue;
    }
    flush();
    if (isFirst) firstRow = rows.length;
    rows.push(changeRow(asked, one, writer));
    if (entry.mark !== null) rows.push(markRow(asked, entry, entry.mark));
    passed += one.tokens.after;
  }
  flush();
  const shown = rows.slice(0, limits.rowsPerAnswerMax);
  const block = first === null ? null : blockAt(asked.after, first);
  const isInside = firstRow !== null && firstRow < shown.length;
  return {
    rows: shown,
    left: rows.length - shown.length,
    totals: totalsOf(sized, entries),
    estimated,
    first: { row: isInside ? firstRow : null, block },
  };
}

type Sizes = { readonly before: number; readonly after: number };
type SizedEntry = { readonly entry: DiffEntry; readonly tokens: Sizes };

/**
 * The parts never add up to more than the whole, here as in a state: what the provider has counted, or what
 * could be expected of it.
 */
function fittedEntries(asked: RowsAsked) {
  const raw = sizedEntries(asked);
  const guessed = raw.reduce((sum, { tokens }) => sum + tokens.after, 0);
  const estimated = Math.round(guessed * asked.rate);
  const counted = Math.min(guessed, asked.reported?.prompt ?? estimated);
  const share = guessed === 0 ? 1 : counted / guessed;
  const fitted = (tokens: number): number => Math.floor(tokens * share);
  const sized = raw.map(({ entry, tokens }): SizedEntry => {
    return { entry, tokens: { before: fitted(tokens.before), after: fitted(tokens.after) } };
  });
  return { sized, estimated, counted };
}

function sizedEntries({ before, after, diff, moment }: RowsAsked): readonly SizedEntry[] {
  const sizes = { before: guessedSizes(before, moment), after: guessedSizes(after, moment) };
  const sum = (list: readonly number[], sizeOf: (at: number) => number): number =>
    list.reduce((all, at) => all + sizeOf(at), 0);
  return diff.entries.map((entry) => {
    const tokensAfter = sum(entry.after, sizes.after);
    // What is the same is as large on both sides, and need not be counted twice.
    const tokens =
      entry.reasons.length === 0
        ? { before: tokensAfter, after: tokensAfter }
        : { before: sum(entry.before, sizes.before), after: tokensAfter };
    return { entry, tokens };
  });
}

/** The unit in which, or in front of which, the first byte differs; null: it lies among the other fields. */
function firstUnit({ after, firstByte }: RowsAsked): number | null {
  const key = after.request.members.find(({ value }) => firstByte < value.end)?.key;
  if (key !== "tools" && key !== "system" && key !== "messages") return null;
  const found = after.units.findIndex((unit) => {
    const { at, length } = unit.unit.places.at(-1) ?? { at: 0, length: 0 };
    return unit.unit.section === key && unit.group.range.start + at + length > firstByte;
  });
  if (found !== -1) return found;
  return after.units.findLastIndex(({ unit }) => unit.section === key);
}

function blockAt({ facts }: Side, at: number): number | null {
  return facts?.[at]?.block?.id ?? null;
}

type Run = { readonly run: readonly SizedEntry[]; readonly passed: number };

/** Providers count otherwise than we do: their figures are brought to ours. Some few tokens tell nothing. */
function cachedOf({ reported }: RowsAsked, counted: number, { run, passed }: Run): SameRow["cached"] {
  if (reported === null || reported.prompt === 0) return null;
  const cached = (reported.cached * counted) / reported.prompt;
  const tokens = run.reduce((sum, one) => sum + one.tokens.after, 0);
  if (cached <= passed) return "none";
  return cached * 1.02 >= passed + tokens ? "all" : "some";
}

function sameRow({ after }: RowsAsked, run: readonly SizedEntry[], cached: SameRow["cached"]): SameRow {
  const at = run.flatMap(({ entry }) => entry.after);
  const blocks = at.flatMap((one) => blockAt(after, one) ?? []);
  return {
    type: "same",
    count: at.length,
    tokens: run.reduce((sum, { tokens }) => sum + tokens.after, 0),
    bytes: at.reduce((sum, one) => sum + (after.units[one]?.unit.length ?? 0), 0),
    from: blocks[0] ?? null,
    to: blocks.at(-1) ?? null,
    reformed: run.filter(({ entry }) => entry.isReformed).length,
    cached,
  };
}

function changeRow(
  { before, after }: RowsAsked,
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
  { after, before }: RowsAsked,
  entry: DiffEntry,
  mark: NonNullable<DiffEntry["mark"]>,
): MarkRow {
  const [here] = entry.after;
  const [there] = entry.before;
  const block = here === undefined ? blockAt(before, there ?? -1) : blockAt(after, here);
  return { type: "mark", block, ...mark };
}

/** What units say, as long as there is room. */
class TextWriter {
  #left = textsCharsMax;

  text(side: Side, at: readonly number[]): DiffText | null {
    if (at.length === 0) return null;
    const units = at.map((one) => must(side.units[one], "it lies in the body"));
    const bytes = units.reduce((sum, { unit }) => sum + unit.length, 0);
    const whole = units.map((unit) => this.#words(side, unit)).join("\n");
    const text = cutText(whole, Math.min(textCharsMax, this.#left));
    this.#left -= text.length;
    return { text, bytes, isCut: text.length < whole.length };
  }

  #words(side: Side, unit: (typeof side.units)[number]): string {
    const words = bytesIn(side.request, unit);
    return storedWords(words, unit.unit.kind) ?? Buffer.from(words).toString("utf8");
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
