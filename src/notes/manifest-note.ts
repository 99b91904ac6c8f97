import type { SelectedBlock } from "../awareness/index.ts";
import { unreachable } from "../base/index.ts";
import { type ChangeList, readChanges, writeChanges } from "./changes-text.ts";
import { type Expiry, readExpiries, writeExpiries } from "./expiry.ts";
import { splitUnquoted } from "./safe-text.ts";
import { readSelectedList, writeSelected } from "./selection.ts";
import { readSize, type Size, shortSize, sizePattern, writeSize } from "./sizes-and-ids.ts";

/** How a manifest is wrapped for a family of models. The rows are the same. */
export type ManifestVariant = "text" | "xml" | "markdown";

/** A manifest as written: a first line with the nonce, then lines of fields. */
export type ManifestNote = {
  readonly nonce: string;
  readonly variant: ManifestVariant;
  readonly turn: number;
  readonly blocks: number;
  readonly fill: WindowFill | null;
  readonly lines: readonly (readonly ManifestField[])[];
};

export type WindowFill = {
  readonly used: Size;
  readonly window: number | null;
  readonly percent: number | null;
};

export type ManifestField =
  | ZoneField
  | ContentField
  | { readonly type: "needed"; readonly names: readonly string[] }
  | { readonly type: "expiring"; readonly expiries: readonly Expiry[] }
  | { readonly type: "candidates"; readonly items: readonly CandidateItem[] }
  | { readonly type: "pruned"; readonly ranges: readonly PrunedItem[]; readonly more: number }
  | { readonly type: "since"; readonly changes: ChangeList }
  | {
      readonly type: "budget";
      readonly free: Size | null;
      readonly turns: number | null;
      readonly expandable: number | null;
    };

export type ZoneField = {
  readonly type: "zone";
  readonly zone: "PRIMACY" | "MIDDLE" | "RECENCY" | "COLD";
  /** Null in a row that only carries content. */
  readonly blocks: number | null;
  readonly size: Size | null;
  /** True: `3 blocks`. False: `3`. */
  readonly isCounted: boolean;
  readonly isPinned: boolean;
  readonly pending: PendingCount | null;
  readonly content: ContentField | null;
  /** The tool that brings cold blocks back. */
  readonly recall: string | null;
};

type PendingCount = { readonly blocks: number; readonly tokens: number };

/** Fields that describe the content of a zone. */
export type ContentField = ListField | TopicsField | TaskField | SelectedField;
export type ListField = { readonly type: "list"; readonly items: readonly string[] };
type TopicsField = { readonly type: "topics"; readonly items: readonly string[] };
type TaskField = { readonly type: "task"; readonly text: string };
export type SelectedField = {
  readonly type: "selected";
  readonly selected: readonly SelectedBlock[];
  readonly more: number;
};

type CandidateItem = {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly tokens: number;
  readonly since: number;
};

type PrunedItem = {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly signatures: number;
};

type VariantForm = {
  /** The first line carries the nonce. */
  readonly first: (nonce: string, fields: readonly string[]) => string;
  readonly firstForm: RegExp;
  readonly rowStart: string;
  readonly last: readonly string[];
  /** Signs in content that would end the wrapping, and what is written instead. */
  readonly escapes: readonly (readonly [sign: string, written: string])[];
};

const variants: Readonly<Record<ManifestVariant, VariantForm>> = {
  text: {
    first: (nonce, fields) => `[CONTEXT MANIFEST ${nonce} ${fields.join(" | ")}]`,
    firstForm: /^\[CONTEXT MANIFEST (\w+) (.*)\]$/,
    rowStart: "",
    last: [],
    escapes: [],
  },
  xml: {
    first: (nonce, fields) => `<context-manifest mark=${nonce} about="${fields.join(" | ")}">`,
    firstForm: /^<context-manifest mark=(\w+) about="(.*)">$/,
    rowStart: "",
    last: ["</context-manifest>"],
    escapes: [
      ["&", "&amp;"],
      ["<", "&lt;"],
    ],
  },
  markdown: {
    first: (nonce, fields) => `### CONTEXT MANIFEST ${nonce} ${fields.join(" | ")}`,
    firstForm: /^### CONTEXT MANIFEST (\w+) (.*)$/,
    rowStart: "- ",
    last: [],
    escapes: [["`", "'"]],
  },
};

/** The text as it may stand inside a manifest of that variant. */
export function escapeFor(variant: ManifestVariant, text: string): string {
  return variants[variant].escapes.reduce((kept, [sign, written]) => kept.replaceAll(sign, written), text);
}

function unescapeFor(variant: ManifestVariant, text: string): string {
  return variants[variant].escapes.reduceRight(
    (kept, [sign, written]) => (sign === "`" ? kept : kept.replaceAll(written, sign)),
    text,
  );
}

export function writeManifestNote(note: ManifestNote): string {
  const { nonce, variant, turn, blocks, fill, lines } = note;
  const form = variants[variant];
  const head = [`turn ${turn}`, writeCount(blocks), ...(fill === null ? [] : [writeFill(fill)])];
  const rows = lines.map((fields) => {
    const text = fields.map(writeManifestField).join(" | ");
    return `${form.rowStart}${escapeFor(variant, text)}`;
  });
  return [form.first(nonce, head), ...rows, ...form.last].join("\n");
}

export function readManifestNote(text: string): ManifestNote | null {
  const [first = "", ...rest] = text.split("\n");
  for (const variant of Object.keys(variants) as ManifestVariant[]) {
    const { firstForm, rowStart, last } = variants[variant];
    const found = firstForm.exec(first);
    if (found === null) continue;
    const [, nonce = "", about = ""] = found;
    const head = readHead(about);
    const rows = last.length === 0 ? rest : rest.slice(0, -last.length);
    const lines = rows.map((row) => readRow(unescapeFor(variant, row.slice(rowStart.length))));
    if (head === null || lines.some((line) => line === null)) return null;
    return { nonce, variant, ...head, lines: lines.flatMap((line) => (line === null ? [] : [line])) };
  }
  return null;
}

function writeFill({ used, window, percent }: WindowFill): string {
  const size = writeSize(used);
  return window === null ? `${size} tokens` : `${size}/${shortSize(window)} tokens, ${percent}%`;
}

const headForm = new RegExp(
  `^turn (\\d+) \\| (\\d+) blocks?(?: \\| (${sizePattern})(?:/(${sizePattern}))? tokens(?:, (\\d+)%)?)?$`,
);

function readHead(text: string): Pick<ManifestNote, "turn" | "blocks" | "fill"> | null {
  const found = headForm.exec(text);
  if (found === null) return null;
  const [, turn, blocks, used, window, percent] = found;
  const size = readSize(used ?? "");
  const room = readSize(window ?? "")?.tokens ?? null;
  const fill =
    size === null
      ? null
      : { used: size, window: room, percent: percent === undefined ? null : Number(percent) };
  return { turn: Number(turn), blocks: Number(blocks), fill };
}

function readRow(text: string): readonly ManifestField[] | null {
  const fields = text.split(" | ").map(readManifestField);
  return fields.some((field) => field === null) ? null : fields.flatMap((field) => field ?? []);
}

function writeManifestField(field: ManifestField): string {
  switch (field.type) {
    case "zone":
      return writeZone(field);
    case "list":
      return field.items.join(", ");
    case "topics":
      return `topics: ${field.items.join(", ")}`;
    case "task":
      return `task "${field.text}"`;
    case "selected":
      return writeSelectedField(field);
    case "needed":
      // Names are single words: blanks between them cost fewer tokens than commas.
      return `NAMES ${field.names.join(" ")}`;
    case "expiring":
      return `EXPIRING ${writeExpiries(field.expiries)}`;
    case "candidates":
      return `CANDIDATES ${field.items.map(writeCandidate).join(", ")}`;
    case "pruned":
      return writePruned(field);
    case "since":
      return `SINCE LAST TURN: ${writeChanges(field.changes)}`;
    case "budget":
      return writeBudget(field);
    default:
      return unreachable(field);
  }
}

function readManifestField(text: string): ManifestField | null {
  const [start, read] = fieldReaders.find(([start]) => text.startsWith(start)) ?? [];
  if (start !== undefined && read !== undefined) return read(text.slice(start.length));
  return zoneForm.test(text) ? readZone(text) : readContent(text);
}

/** Fields known by how they start. */
const fieldReaders: readonly (readonly [start: string, read: (rest: string) => ManifestField | null])[] = [
  ["NAMES ", (rest) => ({ type: "needed", names: rest.split(" ") })],
  ["EXPIRING ", (rest) => withValue(readExpiries(rest), (expiries) => ({ type: "expiring", expiries }))],
  ["CANDIDATES ", readCandidates],
  ["PRUNED ", readPruned],
  ["SINCE LAST TURN: ", (rest) => withValue(readChanges(rest), (changes) => ({ type: "since", changes }))],
  ["BUDGET ", readBudget],
];

function withValue<T>(value: T | null, make: (value: T) => ManifestField): ManifestField | null {
  return value === null ? null : make(value);
}

function readContent(text: string): ContentField | null {
  if (text.startsWith(selectedStart)) return readSelectedField(text.slice(selectedStart.length));
  const [, task] = /^task "(.*)"$/.exec(text) ?? [];
  if (task !== undefined) return { type: "task", text: task };
  const isTopics = text.startsWith("topics: ");
  const items = splitUnquoted(isTopics ? text.slice("topics: ".length) : text, ", ");
  return { type: isTopics ? "topics" : "list", items };
}

function writeCount(blocks: number): string {
  return `${blocks} ${blocks === 1 ? "block" : "blocks"}`;
}

export function writePending({ blocks, tokens }: PendingCount): string {
  return `${blocks} pending${tokens > 0 ? ` (-${shortSize(tokens)})` : ""}`;
}

function writeZone(field: ZoneField): string {
  const { zone, blocks, size, isCounted, isPinned, pending, content, recall } = field;
  const counts = [
    blocks === null ? "" : isCounted ? writeCount(blocks) : `${blocks}`,
    size === null ? "" : writeSize(size),
  ];
  const head = [zone, ...counts].filter((text) => text !== "").join(" ");
  const notes = `${isPinned ? ", pinned" : ""}${pending === null ? "" : `, ${writePending(pending)}`}`;
  const rest = content === null ? "" : `: ${writeManifestField(content)}`;
  return `${head}${notes}${rest}${recall === null ? "" : ` -> ${recall}`}`;
}

const zoneForm = new RegExp(
  `^(PRIMACY|MIDDLE|RECENCY|COLD)(?: (\\d+)( blocks?)? (${sizePattern}))?(, pinned)?` +
    `(?:, (\\d+) pending(?: \\(-(${sizePattern})\\))?)?(?:: (.*?))?(?: -> (\\w+))?$`,
);

function readZone(text: string): ZoneField | null {
  const found = zoneForm.exec(text);
  if (found === null) return null;
  const [, zone, blocks, counted, size, pinned, pending, freed, content, recall] = found;
  const read = content === undefined ? null : readContent(content);
  return {
    type: "zone",
    zone: zone as ZoneField["zone"],
    blocks: blocks === undefined ? null : Number(blocks),
    size: readSize(size ?? ""),
    isCounted: counted !== undefined,
    isPinned: pinned !== undefined,
    pending:
      pending === undefined ? null : { blocks: Number(pending), tokens: readSize(freed ?? "0")?.tokens ?? 0 },
    content: read,
    recall: recall ?? null,
  };
}

const selectedStart = "[user-selected] ";

/** `[user-selected] #12 (auth flow) #27 +3` */
export function writeSelectedField({ selected, more }: Omit<SelectedField, "type">): string {
  return `${selectedStart}${[...selected.map(writeSelected), ...(more > 0 ? [`+${more}`] : [])].join(" ")}`;
}

function readSelectedField(text: string): SelectedField | null {
  const [, list = "", more] = /^(.*?)(?: ?\+(\d+))?$/.exec(text) ?? [];
  const selected = readSelectedList(list, " ");
  return selected === null ? null : { type: "selected", selected, more: Number(more ?? 0) };
}

function writeCandidate({ from, to, label, tokens, since }: CandidateItem): string {
  const ids = from === to ? `#${from}` : `#${from}..#${to}`;
  return [ids, label, shortSize(tokens), `(never used since ${since})`]
    .filter((text) => text !== "")
    .join(" ");
}

const candidateForm = new RegExp(
  `^#(\\d+)(?:\\.\\.#(\\d+))?(?: (.+))? (${sizePattern}) \\(never used since (\\d+)\\)$`,
);

function readCandidates(text: string): ManifestField | null {
  const items = splitUnquoted(text, ", ").map((item): CandidateItem | null => {
    const [, from, to, label = "", size = "", since] = candidateForm.exec(item) ?? [];
    const tokens = readSize(size)?.tokens;
    return tokens === undefined
      ? null
      : { from: Number(from), to: Number(to ?? from), label, tokens, since: Number(since) };
  });
  return items.some((item) => item === null)
    ? null
    : { type: "candidates", items: items.flatMap((item) => item ?? []) };
}

type PrunedField = Extract<ManifestField, { readonly type: "pruned" }>;

function writePruned({ ranges, more }: PrunedField): string {
  const shown = ranges.map(({ from, to, reason, signatures }) => {
    const messages = from === to ? `message ${from}` : `messages ${from}..${to}`;
    const quoted = reason === "" ? "" : `"${reason}", `;
    return `${messages} (${quoted}${signatures} ${signatures === 1 ? "signature" : "signatures"})`;
  });
  return `PRUNED ${[...shown, ...(more > 0 ? [`+${more} ranges`] : [])].join(", ")}`;
}

function readPruned(text: string): PrunedField | null {
  const form = /messages? (\d+)(?:\.\.(\d+))? \((?:"([^"]*)", )?(\d+) signatures?\)(?:, |$)/y;
  const ranges: PrunedItem[] = [];
  let at = 0;
  for (let found = form.exec(text); found !== null; found = form.exec(text)) {
    const [whole, from, to, reason = "", signatures] = found;
    ranges.push({ from: Number(from), to: Number(to ?? from), reason, signatures: Number(signatures) });
    at += whole.length;
  }
  const [, more] = /^\+(\d+) ranges$/.exec(text.slice(at)) ?? [];
  if (at < text.length && more === undefined) return null;
  return { type: "pruned", ranges, more: Number(more ?? 0) };
}

type BudgetField = Extract<ManifestField, { readonly type: "budget" }>;

function writeBudget({ free, turns, expandable }: BudgetField): string {
  const parts = [
    free === null ? "" : `${writeSize(free)} free`,
    turns === null ? "" : `~${turns} turns`,
    expandable === null ? "" : `safe to expand ~${expandable} compressed blocks`,
  ];
  return `BUDGET ${parts.filter((part) => part !== "").join(", ")}`;
}

const budgetForm = new RegExp(
  `^(?:(${sizePattern}) free)?(?:(?:^|, )~(\\d+) turns)?(?:(?:^|, )safe to expand ~(\\d+) compressed blocks)?$`,
);

function readBudget(text: string): BudgetField | null {
  const found = budgetForm.exec(text);
  if (found === null) return null;
  const [, free, turns, expandable] = found;
  return {
    type: "budget",
    free: readSize(free ?? ""),
    turns: turns === undefined ? null : Number(turns),
    expandable: expandable === undefined ? null : Number(expandable),
  };
}
