import type { BlockRow, StateRow, ZoneRow } from "../../queries/answers/index.ts";
import { blockList, formNames } from "./block-list.ts";
import { stripCells, stripLetters, stripPieces, stripStyles, stripText } from "./context-strip.ts";
import { markLine, markRows } from "./context-strip-marks.ts";
import { countedText, pluralText, tokensText } from "./number-text.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { alignRows, type TableCell } from "./table.ts";
import { freeText, scaleOf, windowText } from "./window-text.ts";

const stripWidth = 60;
const nameColumns = 40;
const namedBlocksMax = 5;

export type ContextPictureInput = {
  readonly name: string;
  readonly state: StateRow;
  readonly paint: Paint;
  /** The time until the provider's cache expires; null or absent if not known. */
  readonly cacheLeftMs?: number | null;
};

/** The window from the whole to its parts: a line, a strip, a row per zone. */
export function contextLines({ name, state, paint, cacheLeftMs }: ContextPictureInput): readonly string[] {
  const marks = markLine(state, stripWidth);
  const cells = stripCells(stripPieces(state), scaleOf(state.window), stripWidth);
  return [
    headLine({ name, state, paint }),
    stripText(cells, paint),
    ...(marks === "" ? [] : [paint("dim", marks)]),
    ...alignRows([...zoneRows(state), ...markRows(state, cacheLeftMs ?? null)], paint).map(
      (line) => ` ${line}`,
    ),
  ];
}

function headLine({ name, state, paint }: ContextPictureInput): string {
  const { seq, head, window, model } = state;
  const position = seq === head ? `seq ${seq}` : `seq ${seq} of ${head}`;
  const parts = [windowText(window), freeText(window), position];
  return [paint("bold", printable(name, nameColumns)), printable(model ?? "no model yet"), ...parts].join(
    "  ",
  );
}

function zoneRows(state: StateRow): readonly (readonly TableCell[])[] {
  const zones = state.zones.filter(({ blocks }) => blocks > 0).map((zone) => zoneRow(zone, state.blocks));
  const { otherTokens, cold } = state;
  const other = zoneCells("other", { tokens: `~${countedText(otherTokens, true)}`, notes: "tools, framing" });
  const isColdExact = state.blocks.filter(({ zone, counted }) => zone === "cold" && !counted).every(isExact);
  const archived = zoneCells("cold", {
    blocks: pluralText(cold.blocks, "block"),
    tokens: countedText(cold.tokens, isColdExact),
    notes: "not sent",
  });
  const all = [...zones, ...(otherTokens > 0 ? [other] : []), ...(cold.blocks > 0 ? [archived] : [])];
  return [...all, ...changeRows(state)];
}

/** Blocks that are sent shortened, and blocks that the next rewrite will change. */
function changeRows({ blocks, lowered, pending }: StateRow): readonly (readonly TableCell[])[] {
  const shorter = blocks.filter(({ shown }) => shown !== "original" && shown !== "absent");
  const waiting = blocks.filter((block) => block.pending);
  const rows = [
    { name: "shortened", of: lowered, notes: `left out: ${byForm(shorter, ({ shown }) => shown)}` },
    {
      name: "pending",
      of: pending,
      notes: `at the next rewrite: ${byForm(waiting, ({ wanted }) => wanted)}`,
    },
  ];
  return rows
    .filter(({ of }) => of.blocks > 0)
    .map(({ name, of, notes }) => [
      { text: "" },
      { text: name },
      { text: pluralText(of.blocks, "block"), align: "right" },
      { text: savedText(of.tokens), align: "right" },
      { text: notes, style: "dim" },
    ]);
}

function savedText(tokens: number): string {
  return `~${tokens > 0 ? "-" : tokens < 0 ? "+" : ""}${tokensText(Math.abs(tokens))}`;
}

/** `trimmed #18 #20, pruned #3`. */
function byForm(blocks: readonly BlockRow[], formOf: (block: BlockRow) => BlockRow["shown"]): string {
  const forms = [...new Set(blocks.map(formOf))];
  return forms
    .map(
      (form) =>
        `${formNames[form]} ${blockList(blocks.filter((one) => formOf(one) === form).map(({ n }) => n))}`,
    )
    .join(", ");
}

type RowFigures = { readonly blocks?: string; readonly tokens: string; readonly notes: string };

function zoneCells(
  of: keyof typeof stripLetters,
  { blocks = "", tokens, notes }: RowFigures,
): readonly TableCell[] {
  return [
    { text: stripLetters[of], style: stripStyles[of] },
    { text: of },
    { text: blocks, align: "right" },
    { text: tokens, align: "right" },
    { text: notes, style: "dim" },
  ];
}

function zoneRow({ zone, tokens, blocks }: ZoneRow, all: readonly BlockRow[]): readonly TableCell[] {
  const own = all.filter((block) => block.counted && block.zone === zone);
  const figure = countedText(tokens, own.every(isExact));
  const changed = notesOn(own);
  // An archived block keeps its place until a rewrite removes it.
  const notes =
    zone !== "cold" ? changed : ["archived, still sent", changed].filter((each) => each !== "").join(", ");
  return zoneCells(zone, { blocks: pluralText(blocks, "block"), tokens: figure, notes });
}

function isExact({ exact, tokens }: BlockRow): boolean {
  return exact && tokens !== null;
}

/** The facts that set blocks of a zone apart. */
function notesOn(blocks: readonly BlockRow[]): string {
  const count = (is: (block: BlockRow) => boolean, word: string): string => {
    const found = blocks.filter(is).length;
    return found === 0 ? "" : `${found} ${word}`;
  };
  return [
    count(({ shown }) => shown === "trimmed", "trimmed"),
    count(({ shown }) => shown === "summarized", "summarized"),
    count(({ shown }) => shown === "minimal", "minimal"),
    count(({ shown }) => shown === "placeholder", "pruned"),
    count(({ pinned }) => pinned, "pinned"),
    focusedText(blocks),
    count(({ withheld }) => withheld, "withheld"),
    count(({ tokens }) => tokens === null, "not counted yet"),
  ]
    .filter((note) => note !== "")
    .join(", ");
}

function focusedText(blocks: readonly BlockRow[]): string {
  const focused = blocks.filter((block) => block.focused).map(({ n }) => `#${n}`);
  if (focused.length === 0) return "";
  const rest = focused.length - namedBlocksMax;
  return `focused ${focused.slice(0, namedBlocksMax).join(" ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
