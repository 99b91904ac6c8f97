import type { BlockDetail, HistoryRow, PendingRow } from "../../session/index.ts";
import { formWords } from "./blocks.ts";
import { typesInWords } from "./frame-words.ts";
import { countedText, tokensText } from "./numbers.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { aligned, type Cell } from "./table.ts";
import { timeText } from "./times.ts";

/** What a block is, how it is shown, and what is wanted of it. */
export function blockLines({ block, pending }: BlockDetail, paint: Paint): readonly string[] {
  const marks = [
    block.pinned ? "pinned" : "",
    block.focused ? "focused" : "",
    block.selected ? "selected" : "",
    block.withheld ? "withheld" : "",
  ].filter((mark) => mark !== "");
  const ends = block.ttl === null ? "" : `, lowered in ${block.ttl} turns`;
  const lines: readonly (readonly [string, string])[] = [
    ["block", `#${block.n} ${printable(block.kind)} of turn ${block.turn}, message ${block.message}`],
    ["state", [printable(block.zone), printable(block.state), ...marks].join(", ")],
    ["last used", `turn ${block.lastUsedTurn}${ends}`],
    ["shown", formWords[block.shown]],
    ["wanted", formWords[block.wanted]],
    ...(pending === null ? [] : [["waits for", waitText(pending)] as const]),
  ];
  const cells = lines.map(([label, text]): readonly Cell[] => [{ text: label, style: "dim" }, { text }]);
  return aligned(cells, paint);
}

const waits: Readonly<Record<PendingRow["waitsFor"], string>> = {
  rewrite:
    "the next rewrite: when the cache is cold, when it pays for itself, or when the window is nearly full",
  managed: "being managed: this session is only observed, and what is sent does not change",
  text: "nothing: no shorter text of it is stored, so it stays as it is",
};

function waitText({ waitsFor, frees }: PendingRow): string {
  if (frees === null || frees === 0 || waitsFor !== "rewrite") return waits[waitsFor];
  const tokens = tokensText(Math.abs(frees));
  return `${waits[waitsFor]}; it will ${frees > 0 ? `free ~${tokens}` : `take ~${tokens} more`}`;
}

/** Every level with its size, and which of them is shown and wanted. */
export function levelLines({ block, levels }: BlockDetail, paint: Paint): readonly string[] {
  const rows = levels.map(({ level, tokens, exact }): readonly Cell[] => {
    const notes = [block.shown === level ? "shown" : "", block.wanted === level ? "wanted" : ""];
    return [
      { text: `  ${formWords[level]}` },
      { text: tokens === null ? "not made" : countedText(tokens, exact), align: "right" },
      { text: notes.filter((note) => note !== "").join(", "), style: "cyan" },
    ];
  });
  return [paint("dim", "levels"), ...aligned(rows, paint)];
}

const historyMax = 10;

type Printing = { readonly paint: Paint; readonly nowMs: number };

/** What was done to it, the newest last; that it was referred to is no act. */
export function historyLines({ history }: BlockDetail, { paint, nowMs }: Printing): readonly string[] {
  const told = history.filter(({ deltas }) => deltas.some((type) => type !== "reference-set"));
  const rows = told.slice(-historyMax).map((row) => historyCells(row, nowMs));
  return rows.length === 0 ? [] : [paint("dim", "history"), ...aligned(rows, paint)];
}

function historyCells({ seq, time, actor, reason, did, deltas }: HistoryRow, nowMs: number): readonly Cell[] {
  const why = reason === "" ? "" : ` (${printable(reason, 60)})`;
  return [
    { text: `  ${seq}`, align: "right", style: "dim" },
    { text: timeText(time, nowMs) },
    { text: printable(actor), style: "bold" },
    { text: `${did === "" ? typesInWords(deltas) : printable(did, 80)}${why}` },
  ];
}
