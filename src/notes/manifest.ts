import {
  type ManifestFacts,
  type ManifestSpent,
  manifestNamesMax,
  type NamedBlock,
  type NeededName,
  summaryShare,
  type ZoneCounts,
  type ZoneFacts,
} from "../awareness/index.ts";
import { boundedTokens } from "./bound.ts";
import { changeList } from "./changes-text.ts";
import {
  type ContentField,
  escapeFor,
  type ListField,
  type ManifestField,
  type ManifestNote,
  type ManifestVariant,
  type SelectedField,
  writeManifestNote,
  writePending,
  type ZoneField,
} from "./manifest-note.ts";
import { listed, safeText, shortened } from "./safe-text.ts";
import { shownSelected } from "./selection.ts";
import { idList, roundTokens, shortSize } from "./sizes-and-ids.ts";

export type ManifestOptions = {
  readonly nonce: string;
  readonly turn: number;
  readonly variant: ManifestVariant;
  readonly detail: "summary" | "detailed";
  /** Whether the manifest says how full the window is. */
  readonly fill: "shown" | "hidden";
  /** The tool that brings cold blocks back. Absent if the model does not have it. */
  readonly recall?: string;
  /** The price of reading a token from the cache. Absent: the usual price. */
  readonly read?: number;
  /** The earlier summaries of the stream: needed names are listed as long as the mean size allows it. */
  readonly spent?: Pick<ManifestSpent, "turns" | "tokens">;
};

/** The limits of one layout: the size it is for, the length of a name, and the length of each list. */
type Fit = {
  readonly tokensMax: number;
  readonly nameChars: number;
  readonly names: number;
  readonly needed: number;
  readonly changes: number;
  readonly rows: number;
};

export const manifestTokensMax = { summary: 200, detailed: 500 } as const;

/**
 * Names are added to a summary up to this bound. The bound is above the real count, so that summaries have at
 * most 120 tokens on average. A summary that is long without names still gets a few.
 */
const usualTokensMax = 135;
const namesTokensMin = 30;
const namesTriedMax = 40;

const summary = { tokensMax: manifestTokensMax.summary } as const;
const detailed = { tokensMax: manifestTokensMax.detailed } as const;

/**
 * Layouts from the largest to the smallest. Later ones have fewer names before they shorten any, because only
 * a whole name can be searched for. The last one shows no content.
 */
const fits: Readonly<Record<ManifestOptions["detail"], readonly Fit[]>> = {
  summary: [
    { ...summary, nameChars: 64, names: 16, needed: 60, changes: 2, rows: 2 },
    { ...summary, nameChars: 40, names: 2, needed: 60, changes: 2, rows: 2 },
    { ...summary, nameChars: 24, names: 1, needed: 0, changes: 1, rows: 1 },
    { ...summary, nameChars: 0, names: 0, needed: 0, changes: 0, rows: 1 },
  ],
  detailed: [
    { ...detailed, nameChars: 64, names: 16, needed: 60, changes: 8, rows: 6 },
    { ...detailed, nameChars: 64, names: 12, needed: 40, changes: 6, rows: 5 },
    { ...detailed, nameChars: 64, names: 8, needed: 24, changes: 5, rows: 4 },
    { ...detailed, nameChars: 64, names: 5, needed: 12, changes: 4, rows: 3 },
    { ...detailed, nameChars: 40, names: 5, needed: 6, changes: 3, rows: 3 },
    { ...detailed, nameChars: 32, names: 3, needed: 3, changes: 2, rows: 2 },
    { ...detailed, nameChars: 16, names: 2, needed: 0, changes: 1, rows: 1 },
    { ...detailed, nameChars: 0, names: 0, needed: 0, changes: 0, rows: 1 },
  ],
};

/** A manifest and its estimated tokens. */
export type WrittenManifest = { readonly text: string; readonly tokens: number };

/** Says what is in the context now, in at most 200 tokens, or 500 if it is detailed. */
export function manifestText(facts: ManifestFacts, options: ManifestOptions): string {
  return writeManifest(facts, options).text;
}

export function writeManifest(facts: ManifestFacts, options: ManifestOptions): WrittenManifest {
  let manifest: WrittenManifest = { text: "", tokens: 0 };
  for (const fit of fits[options.detail]) {
    const writing = { ...options, fit };
    const named = options.detail === "summary" ? withFittingNames(facts, writing) : facts;
    const bare = written({ ...named, needed: [] }, writing);
    const rest = boundedTokens(bare);
    const needed = neededIn(named, { ...writing, rest });
    const names = needed.reduce((sum, { tokens }) => sum + tokens, 0);
    const text = needed.length === 0 ? bare : written({ ...named, needed }, writing);
    manifest = { text, tokens: rest / boundShare + names };
    if (rest <= fit.tokensMax) return manifest;
  }
  return manifest;
}

type ManifestDraft = ManifestOptions & { readonly fit: Fit };

/** Keeps the names that fit, best first; a name that is too long is skipped. */
function withFittingNames(facts: ManifestFacts, writing: ManifestDraft): ManifestFacts {
  if (facts.middle.names.length === 0) return facts;
  const named = (names: readonly string[]) => ({ ...facts, middle: { ...facts.middle, names } });
  const rest = boundedTokens(written(named([]), writing));
  const fitting: string[] = [];
  let room = Math.max(namesTokensMin, usualTokensMax * shareOf(facts, writing) - rest);
  for (const name of facts.middle.names.slice(0, namesTriedMax)) {
    // A comma stands between names, and a blank may be a token of its own.
    const tokens = boundedTokens(escapeFor(writing.variant, nameText(name, writing))) + 2;
    if (tokens > room) continue;
    fitting.push(name);
    room -= tokens;
  }
  return named(fitting);
}

function shareOf({ used }: ManifestFacts, { read }: ManifestDraft): number {
  return summaryShare(read === undefined ? { used } : { used, read });
}

/** The ratio of the bound to the real count, measured on manifests. */
const boundShare = 1.12;

/** The needed names that fit into this text and into the mean size of all summaries. */
function neededIn(
  facts: ManifestFacts,
  writing: ManifestDraft & { readonly rest: number },
): readonly NeededName[] {
  const { spent = { turns: 0, tokens: 0 }, detail, fit, rest } = writing;
  const fixed = rest / boundShare;
  let room =
    detail === "summary"
      ? manifestNamesMax({ ...spent, fixed, share: shareOf(facts, writing) })
      : detailedNamesMax;
  // Reserves the row itself, and a little because joined names may take more tokens than single ones.
  let left = fit.tokensMax - rest - neededRowTokens;
  return facts.needed.slice(0, fit.needed).filter((needed) => {
    const { name, tokens } = needed;
    const most = boundedTokens(` ${escapeFor(writing.variant, safeText(name, writing.nonce))}`);
    if (tokens > room || most > left || name.length > fit.nameChars) return false;
    room -= tokens;
    left -= most;
    return true;
  });
}

const detailedNamesMax = 150;
const neededRowTokens = 6;

function neededField({ needed }: ManifestFacts, { nonce }: ManifestDraft): ManifestField | null {
  const names = needed.map(({ name }) => safeText(name, nonce)).join(" ");
  return needed.length === 0 ? null : { type: "needed", names: names.split(" ") };
}

/** The note for these facts, before it is known whether it fits. */
function manifestNote(facts: ManifestFacts, writing: ManifestDraft): ManifestNote {
  const { nonce, variant, turn, fill, detail } = writing;
  const { blocks, used, window, exact } = facts;
  const rows = detail === "summary" ? summaryRows(facts, writing) : detailedRows(facts, writing);
  const lines = rows.map((row) => row.filter((field) => field !== null)).filter((row) => row.length > 0);
  const percent = window === null ? null : window === 0 ? 100 : Math.round((100 * used) / window);
  const size = { tokens: used, exact };
  return {
    nonce,
    variant,
    turn,
    blocks,
    fill: fill === "shown" ? { used: size, window, percent } : null,
    lines,
  };
}

function written(facts: ManifestFacts, writing: ManifestDraft): string {
  return writeManifestNote(manifestNote(facts, writing));
}

type Row = readonly (ManifestField | null)[];

function summaryRows(facts: ManifestFacts, writing: ManifestDraft): readonly Row[] {
  const { primacy, middle, recency, cold } = facts;
  const pending = pendingIn(facts);
  const names = namesField(middle.names, writing);
  const hasMiddle = middle.blocks > 0;
  const zones = [
    zoneField("PRIMACY", primacy, {}),
    zoneField("MIDDLE", middle, { pending, content: names }),
    zoneField("RECENCY", recency, hasMiddle ? {} : { pending, content: names }),
    zoneField("COLD", cold, {}),
  ];
  const events = [
    selectedField(facts, writing),
    expiringField(facts, writing),
    sinceField(facts, writing),
    budgetField(facts, { ...writing, isShort: true }),
  ];
  return [zones, [neededField(facts, writing)], events];
}

function detailedRows(facts: ManifestFacts, writing: ManifestDraft): readonly Row[] {
  const { middle, cold } = facts;
  const names = namesField(cold.names, writing);
  return [
    [primacyField(facts, writing)],
    middle.blocks === 0
      ? []
      : zoneRow("MIDDLE", middle, contentFields(facts, { ...middle, counts: middle }, writing)),
    recencyRow(facts, writing),
    [zoneField("COLD", cold, { isCounted: true, content: names, recall: writing.recall ?? null })],
    [neededField(facts, writing)],
    [expiringField(facts, writing), candidatesField(facts, writing)],
    [prunedField(facts, writing)],
    [sinceField(facts, writing)],
    [budgetField(facts, { ...writing, isShort: false })],
  ];
}

/** Null for an empty zone. */
function zoneField(
  zone: ZoneField["zone"],
  { blocks, tokens, exact }: ZoneFacts,
  rest: Partial<Omit<ZoneField, "type" | "zone" | "size">>,
): ZoneField | null {
  if (blocks === 0) return null;
  const size = { tokens, exact };
  return {
    type: "zone",
    zone,
    blocks,
    size,
    isCounted: false,
    isPinned: false,
    pending: null,
    content: null,
    recall: null,
    ...rest,
  };
}

/** The zone with the first of its fields behind a colon, and the others beside it. */
function zoneRow(zone: ZoneField["zone"], facts: ZoneFacts, fields: Row): Row {
  const [content = null, ...others] = fields.filter((field) => field !== null) as ContentField[];
  return [zoneField(zone, facts, { isCounted: true, content }), ...others];
}

function primacyField({ primacy }: ManifestFacts, writing: ManifestDraft): ZoneField | null {
  const items = primacy.named.slice(0, writing.fit.names).map((one) => namedText(one, writing));
  const isPinned = primacy.named.some(({ pin }) => pin !== "none");
  return zoneField("PRIMACY", primacy, { isCounted: true, isPinned, content: listField(items) });
}

function namedText({ name, tokens, pin }: NamedBlock, writing: ManifestDraft): string {
  const called = nameText(name, writing);
  return [called, shortSize(tokens), pin === "none" ? "" : `[pinned:${pin}]`]
    .filter((text) => text !== "")
    .join(" ");
}

/** Speakers, changes and subject of the blocks in a zone. */
function contentFields(
  facts: ManifestFacts,
  zone: CountedZone,
  writing: ManifestDraft,
): readonly (ContentField | null)[] {
  const pending = pendingIn(facts);
  const changing = [...loweredItems(zone), ...(pending === null ? [] : [writePending(pending)])];
  const topics = namesField(facts.middle.names, writing);
  return [
    listField(speakerItems(zone)),
    listField(changing),
    topics === null ? null : { ...topics, type: "topics" },
  ];
}

type CountedZone = { readonly blocks: number; readonly counts?: ZoneCounts };

/** Empty unless the counts add up: blocks may have been added since. */
function speakerItems({ blocks, counts }: CountedZone): readonly string[] {
  if (counts === undefined || counts.user + counts.assistant + counts.tool !== blocks) return [];
  return countItems([
    [counts.user, "user"],
    [counts.assistant, "assistant"],
    [counts.tool, "tool"],
  ]);
}

function loweredItems({ counts }: CountedZone): readonly string[] {
  return countItems([
    [counts?.trimmed ?? 0, "trimmed"],
    [counts?.summarized ?? 0, "summarized"],
    [counts?.minimal ?? 0, "minimal"],
  ]);
}

function countItems(counts: readonly (readonly [count: number, word: string])[]): readonly string[] {
  return counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
}

function recencyRow(facts: ManifestFacts, writing: ManifestDraft): Row {
  const { middle, recency } = facts;
  const task = shortName(recency.task ?? "", writing);
  const content =
    middle.blocks > 0 ? [listField(loweredItems(recency))] : contentFields(facts, recency, writing);
  const fields = [
    task === "" ? null : ({ type: "task", text: task } as const),
    ...content,
    selectedField(facts, writing),
  ];
  if (recency.blocks > 0) return zoneRow("RECENCY", recency, fields);
  const [first = null, ...others] = fields.filter((field) => field !== null);
  if (first === null) return [];
  const empty = { blocks: null, size: null, isCounted: false, isPinned: false, pending: null, recall: null };
  return [{ type: "zone", zone: "RECENCY", ...empty, content: first }, ...others];
}

function pendingIn({ middle: { pending } }: ManifestFacts): ZoneField["pending"] {
  return pending.blocks === 0 ? null : pending;
}

function selectedField(
  { recency }: ManifestFacts,
  { nonce, detail, fit }: ManifestDraft,
): SelectedField | null {
  const { selected } = recency;
  if (selected.length === 0) return null;
  const chars = detail === "summary" ? 0 : fit.nameChars;
  const shown = selected.slice(0, fit.rows * 2).map((one) => shownSelected(nonce, one, chars));
  return { type: "selected", selected: shown, more: selected.length - shown.length };
}

function expiringField({ expiring }: ManifestFacts, { fit }: ManifestDraft): ManifestField | null {
  const turns = [...new Set(expiring.map(({ at }) => at))];
  if (turns.length === 0) return null;
  const blocksAt = (turn: number) => expiring.filter(({ at }) => at === turn).map(({ block }) => block);
  const expiries = turns.slice(0, fit.rows).map((at) => ({ at, blocks: idList(blocksAt(at), 3) }));
  return { type: "expiring", expiries };
}

function candidatesField({ candidates }: ManifestFacts, writing: ManifestDraft): ManifestField | null {
  if (candidates.length === 0) return null;
  const items = candidates.slice(0, writing.fit.rows).map(({ from, to, what, tokens, since }) => ({
    from,
    to,
    label: nameText(what, writing),
    tokens,
    since,
  }));
  return { type: "candidates", items };
}

function prunedField({ ranges }: ManifestFacts, { nonce, fit }: ManifestDraft): ManifestField | null {
  if (ranges.length === 0) return null;
  const largest = [...ranges].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, fit.rows);
  const shown = largest
    .sort((a, b) => a.from - b.from)
    .map(({ from, to, reasons, signatures }) => {
      const reason = shortened(safeText(reasons[0] ?? "", nonce), fit.nameChars);
      return { from, to, reason, signatures };
    });
  return { type: "pruned", ranges: shown, more: ranges.length - shown.length };
}

function sinceField({ changes }: ManifestFacts, { nonce, fit }: ManifestDraft): ManifestField | null {
  if (changes.length === 0) return null;
  return {
    type: "since",
    changes: changeList(changes, { nonce, max: fit.changes, reasonChars: fit.nameChars }),
  };
}

function budgetField(
  facts: ManifestFacts,
  { fill, isShort }: ManifestDraft & { readonly isShort: boolean },
): ManifestField | null {
  const { turnsLeft, expandable, exact } = facts;
  const tokens = fill === "hidden" ? null : freeSize(facts);
  const free = tokens === null ? null : { tokens, exact };
  const turns = free === null || isShort ? null : turnsLeft;
  const safe = isShort || expandable === 0 ? null : expandable;
  return free === null && safe === null ? null : { type: "budget", free, turns, expandable: safe };
}

/** Rounds so that the written numbers of used and free tokens add up to the window. */
function freeSize({ free, used, window }: ManifestFacts): number | null {
  const isRest = window !== null && free === window - used;
  return isRest ? Math.max(0, roundTokens(window) - roundTokens(used)) : free;
}

function namesField(names: readonly string[], writing: ManifestDraft): ListField | null {
  const shown = names.slice(0, writing.fit.names).map((name) => nameText(name, writing));
  return listField(shown.filter((name) => name !== ""));
}

function listField(items: readonly string[]): ListField | null {
  return items.length === 0 ? null : { type: "list", items };
}

function shortName(name: string, { nonce, fit }: ManifestDraft): string {
  return shortened(safeText(name, nonce), fit.nameChars);
}

/** A name in a list; it is quoted if its end would be unclear. */
function nameText(name: string, writing: ManifestDraft): string {
  const text = shortName(name, writing);
  return text === "" ? "" : listed(text);
}
