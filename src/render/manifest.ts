import { boundedTokens } from "./bound.ts";
import { changesText } from "./diff.ts";
import type { ManifestFacts, NamedBlock, NeededName, ZoneCounts, ZoneFacts } from "./facts.ts";
import { idsText, markedSize, readSize, sizeText } from "./numbers.ts";
import type { PrunedRange } from "./range.ts";
import { type ManifestSpent, manifestNamesMax, summaryShare } from "./rank.ts";
import { listed, safeText, shortened } from "./safe-text.ts";
import { selectedName } from "./selection.ts";
import { type ManifestVariant, type VariantForm, variants } from "./variants.ts";

export type ManifestOptions = {
  readonly nonce: string;
  readonly turn: number;
  readonly variant: ManifestVariant;
  readonly detail: "summary" | "detailed";
  /** Whether it is said how full the window is. */
  readonly fill: "shown" | "hidden";
  /** The tool that brings cold blocks back. Left out where there is none: it must not be called in vain. */
  readonly recall?: string;
  /** What reading a token from the cache costs; left out, as much as it usually does. */
  readonly read?: number;
  /** The summaries before this one in the stream: needed names are told as long as the mean allows it. */
  readonly spent?: Pick<ManifestSpent, "turns" | "tokens">;
};

/** How much of each list is shown, how long a name may be, and for which size of the whole that holds. */
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
 * Names fill a summary up to here, by a bound that lies some way above the count: summaries are 120 tokens at
 * most on average. Where there is more to say, a few names stand in it all the same.
 */
const usualTokensMax = 135;
const namesTokensMin = 30;
const namesTriedMax = 40;

const summary = { tokensMax: manifestTokensMax.summary } as const;
const detailed = { tokensMax: manifestTokensMax.detailed } as const;

/**
 * From roomy to bare. A name serves to be found again, so there are fewer of them before they are cut. The
 * last has nothing of content in it.
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

/** A manifest, and about what it costs. */
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

type Writing = ManifestOptions & { readonly fit: Fit };

/** Best first; one that is too long leaves its room to the next. */
function withFittingNames(facts: ManifestFacts, writing: Writing): ManifestFacts {
  if (facts.middle.names.length === 0) return facts;
  const named = (names: readonly string[]) => ({ ...facts, middle: { ...facts.middle, names } });
  const rest = boundedTokens(written(named([]), writing));
  const fitting: string[] = [];
  let room = Math.max(namesTokensMin, usualTokensMax * shareOf(facts, writing) - rest);
  for (const name of facts.middle.names.slice(0, namesTriedMax)) {
    // A comma stands between names, and a blank may be a token of its own.
    const tokens = boundedTokens(nameText(name, writing)) + 2;
    if (tokens > room) continue;
    fitting.push(name);
    room -= tokens;
  }
  return named(fitting);
}

function shareOf({ used }: ManifestFacts, { read }: Writing): number {
  return summaryShare(read === undefined ? { used } : { used, read });
}

/** The bound lies so far above the count, on texts like these. */
const boundShare = 1.12;

const namesRow = "NAMES ";

/** As many needed names as the mean of all summaries has room for, and this text. */
function neededIn(facts: ManifestFacts, writing: Writing & { readonly rest: number }): readonly NeededName[] {
  const { spent = { turns: 0, tokens: 0 }, detail, fit, rest } = writing;
  const fixed = rest / boundShare;
  let room =
    detail === "summary"
      ? manifestNamesMax({ ...spent, fixed, share: shareOf(facts, writing) })
      : detailedNamesMax;
  // The row itself, and a little for names that stand together otherwise than alone.
  let left = fit.tokensMax - rest - neededRowTokens;
  return facts.needed.slice(0, fit.needed).filter((needed) => {
    const { name, tokens } = needed;
    const most = boundedTokens(` ${escaped(safeText(name, writing.nonce), writing.variant)}`);
    if (tokens > room || most > left || name.length > fit.nameChars) return false;
    room -= tokens;
    left -= most;
    return true;
  });
}

const detailedNamesMax = 150;
const neededRowTokens = 6;

/** Between blanks and not commas: these are single words, and each sign is a token. */
function neededText({ needed }: ManifestFacts, { nonce, variant }: Writing): string {
  const names = needed.map(({ name }) => escaped(safeText(name, nonce), variant));
  return names.length === 0 ? "" : `${namesRow}${names.join(" ")}`;
}

function written(facts: ManifestFacts, writing: Writing): string {
  const form = variants[writing.variant];
  const rows = writing.detail === "summary" ? summaryRows(facts, writing) : detailedRows(facts, writing);
  const lines = rows.filter((row) => row !== "").map((row) => `${form.rowStart}${row}`);
  return [form.first(writing.nonce, headFields(facts, writing)), ...lines, ...form.last].join("\n");
}

function headFields({ blocks, used, window, exact }: ManifestFacts, { turn, fill }: Writing) {
  const size = markedSize(used, exact);
  const full =
    window === null ? `${size} tokens` : `${size}/${sizeText(window)} tokens, ${percent(used, window)}`;
  return [`turn ${turn}`, counted(blocks), ...(fill === "shown" ? [full] : [])];
}

function summaryRows(facts: ManifestFacts, writing: Writing): readonly string[] {
  const { primacy, middle, recency, cold } = facts;
  const zones = [
    primacy.blocks > 0 ? zoneText("PRIMACY", primacy) : "",
    middle.blocks > 0 ? `${zoneText("MIDDLE", middle)}${contentText(facts, writing)}` : "",
    recency.blocks > 0
      ? `${zoneText("RECENCY", recency)}${middle.blocks > 0 ? "" : contentText(facts, writing)}`
      : "",
    cold.blocks > 0 ? zoneText("COLD", cold) : "",
  ];
  const events = [
    selectedText(facts, writing),
    expiringText(facts, writing),
    sinceText(facts, writing),
    budgetText(facts, { ...writing, isShort: true }),
  ];
  return [joined(zones), neededText(facts, writing), joined(events)];
}

/** What is pending and what there is to name: with the middle, or with recency where all is one run. */
function contentText(facts: ManifestFacts, writing: Writing): string {
  const [pending, names] = [pendingText(facts), namesText(facts.middle.names, writing)];
  return `${pending === "" ? "" : `, ${pending}`}${names === "" ? "" : `: ${names}`}`;
}

function detailedRows(facts: ManifestFacts, writing: Writing): readonly string[] {
  return [
    primacyRow(facts, writing),
    middleRow(facts, writing),
    recencyRow(facts, writing),
    coldRow(facts, writing),
    neededText(facts, writing),
    joined([expiringText(facts, writing), candidatesText(facts, writing)]),
    rangesText(facts, writing),
    sinceText(facts, writing),
    budgetText(facts, { ...writing, isShort: false }),
  ];
}

function primacyRow({ primacy }: ManifestFacts, writing: Writing): string {
  if (primacy.blocks === 0) return "";
  const named = primacy.named.slice(0, writing.fit.names).map((one) => namedText(one, writing));
  const isPinned = primacy.named.some(({ pin }) => pin !== "none");
  const head = `${zoneWords("PRIMACY", primacy)}${isPinned ? ", pinned" : ""}`;
  return named.length === 0 ? head : `${head}: ${named.join(", ")}`;
}

function namedText({ name, tokens, pin }: NamedBlock, writing: Writing): string {
  const called = nameText(name, writing);
  return [called, sizeText(tokens), pin === "none" ? "" : `[pinned:${pin}]`]
    .filter((text) => text !== "")
    .join(" ");
}

function middleRow(facts: ManifestFacts, writing: Writing): string {
  const { middle } = facts;
  if (middle.blocks === 0) return "";
  const fields = joined(contentFields(facts, { ...middle, counts: middle }, writing));
  return `${zoneWords("MIDDLE", middle)}${fields === "" ? "" : `: ${fields}`}`;
}

/** Who said what is there, what became of it, and what it is about. */
function contentFields(facts: ManifestFacts, zone: CountedZone, writing: Writing): readonly string[] {
  const changing = [loweredText(zone), pendingText(facts)].filter((text) => text !== "").join(", ");
  const topics = namesText(facts.middle.names, writing);
  return [speakersText(zone), changing, topics === "" ? "" : `topics: ${topics}`];
}

type CountedZone = { readonly blocks: number; readonly counts?: ZoneCounts };

/** Only where they add up: blocks may have been added since they were counted. */
function speakersText({ blocks, counts }: CountedZone): string {
  if (counts === undefined || counts.user + counts.assistant + counts.tool !== blocks) return "";
  return listText([
    [counts.user, "user"],
    [counts.assistant, "assistant"],
    [counts.tool, "tool"],
  ]);
}

function loweredText({ counts }: CountedZone): string {
  return listText([
    [counts?.trimmed ?? 0, "trimmed"],
    [counts?.summarized ?? 0, "summarized"],
    [counts?.minimal ?? 0, "minimal"],
  ]);
}

function recencyRow(facts: ManifestFacts, writing: Writing): string {
  const { middle, recency } = facts;
  const task = nameText(recency.task ?? "", { ...writing, isQuoted: true });
  const content = middle.blocks > 0 ? [loweredText(recency)] : contentFields(facts, recency, writing);
  const rest = joined([task === "" ? "" : `task ${task}`, ...content, selectedText(facts, writing)]);
  if (recency.blocks === 0) return rest === "" ? "" : `RECENCY: ${rest}`;
  return `${zoneWords("RECENCY", recency)}${rest === "" ? "" : `: ${rest}`}`;
}

function coldRow({ cold }: ManifestFacts, writing: Writing): string {
  if (cold.blocks === 0) return "";
  const names = namesText(cold.names, writing);
  const way = writing.recall === undefined ? "" : ` -> ${writing.recall}`;
  return `${zoneWords("COLD", cold)}${names === "" ? "" : `: ${names}`}${way}`;
}

function pendingText({ middle }: ManifestFacts): string {
  const { pending } = middle;
  if (pending.blocks === 0) return "";
  return `${pending.blocks} pending${pending.tokens > 0 ? ` (-${sizeText(pending.tokens)})` : ""}`;
}

function selectedText({ recency }: ManifestFacts, { nonce, detail, variant, fit }: Writing): string {
  const { selected } = recency;
  if (selected.length === 0) return "";
  const chars = detail === "summary" ? 0 : fit.nameChars;
  const shown = selected
    .slice(0, fit.rows * 2)
    .map((one) => escaped(selectedName(nonce, one, chars), variant));
  const left = selected.length - shown.length;
  return `[user-selected] ${[...shown, ...(left > 0 ? [`+${left}`] : [])].join(" ")}`;
}

function expiringText({ expiring }: ManifestFacts, { fit }: Writing): string {
  const turns = [...new Set(expiring.map(({ at }) => at))];
  if (turns.length === 0) return "";
  const texts = turns.slice(0, fit.rows).map((at) => {
    const ids = expiring.filter((one) => one.at === at).map(({ block }) => block);
    return `${idsText(ids, 3)} at ${at}`;
  });
  return `EXPIRING ${texts.join(", ")}`;
}

function candidatesText({ candidates }: ManifestFacts, writing: Writing): string {
  if (candidates.length === 0) return "";
  const texts = candidates.slice(0, writing.fit.rows).map(({ from, to, what, tokens, since }) => {
    const ids = from === to ? `#${from}` : `#${from}..#${to}`;
    return [ids, nameText(what, writing), sizeText(tokens), `(never used since ${since})`]
      .filter((text) => text !== "")
      .join(" ");
  });
  return `CANDIDATES ${texts.join(", ")}`;
}

function rangesText({ ranges }: ManifestFacts, writing: Writing): string {
  if (ranges.length === 0) return "";
  const { rows } = writing.fit;
  const largest = [...ranges].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, rows);
  const shown = largest.sort((a, b) => a.from - b.from).map((range) => rangeWords(range, writing));
  const left = ranges.length - shown.length;
  return `PRUNED ${[...shown, ...(left > 0 ? [`+${left} ranges`] : [])].join(", ")}`;
}

function rangeWords(
  { from, to, reasons, signatures }: PrunedRange,
  { nonce, variant, fit }: Writing,
): string {
  const messages = from === to ? `message ${from}` : `messages ${from}..${to}`;
  const reason = shortened(safeText(reasons[0] ?? "", nonce), fit.nameChars);
  const quoted = reason === "" ? "" : `"${escaped(reason, variant)}", `;
  return `${messages} (${quoted}${signatures} ${signatures === 1 ? "signature" : "signatures"})`;
}

function sinceText({ changes }: ManifestFacts, { nonce, variant, fit }: Writing): string {
  if (changes.length === 0) return "";
  const text = changesText(changes, { nonce, max: fit.changes, reasonChars: fit.nameChars });
  return `SINCE LAST TURN: ${escaped(text, variant)}`;
}

function budgetText(facts: ManifestFacts, asked: Writing & { readonly isShort: boolean }): string {
  const { turnsLeft, expandable, exact } = facts;
  const free = asked.fill === "hidden" ? null : freeSize(facts);
  const size = free === null ? "" : `${exact ? "" : "~"}${sizeText(free)} free`;
  const turns = size === "" || turnsLeft === null || asked.isShort ? "" : `~${turnsLeft} turns`;
  const safe = asked.isShort || expandable === 0 ? "" : `safe to expand ~${expandable} compressed blocks`;
  const said = [size, turns, safe].filter((text) => text !== "").join(", ");
  return said === "" ? "" : `BUDGET ${said}`;
}

/** Used and free add up to the window, also as they are written. */
function freeSize({ free, used, window }: ManifestFacts): number | null {
  const isRest = window !== null && free === window - used;
  return isRest ? Math.max(0, readSize(window) - readSize(used)) : free;
}

function zoneText(word: string, { blocks, tokens, exact }: ZoneFacts): string {
  return `${word} ${blocks} ${markedSize(tokens, exact)}`;
}

function zoneWords(word: string, { blocks, tokens, exact }: ZoneFacts): string {
  return `${word} ${counted(blocks)} ${markedSize(tokens, exact)}`;
}

function counted(blocks: number): string {
  return `${blocks} ${blocks === 1 ? "block" : "blocks"}`;
}

function percent(used: number, window: number): string {
  return `${window === 0 ? 100 : Math.round((100 * used) / window)}%`;
}

function listText(counts: readonly (readonly [count: number, word: string])[]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
}

function namesText(names: readonly string[], writing: Writing): string {
  return names
    .slice(0, writing.fit.names)
    .map((name) => nameText(name, writing))
    .filter((name) => name !== "")
    .join(", ");
}

function nameText(name: string, writing: Writing & { readonly isQuoted?: boolean }): string {
  const text = shortened(safeText(name, writing.nonce), writing.fit.nameChars);
  if (text === "") return "";
  return escaped(writing.isQuoted ? `"${text}"` : listed(text), writing.variant);
}

function escaped(text: string, variant: ManifestVariant): string {
  const form: VariantForm = variants[variant];
  return form.escapes.reduce((kept, [sign, written]) => kept.replaceAll(sign, written), text);
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(" | ");
}
