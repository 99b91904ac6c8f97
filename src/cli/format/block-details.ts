import type { BlockDetail, HistoryRow, PendingRow } from "../../queries/answers/index.ts";
import { formNames } from "./block-list.ts";
import { deltaTypesText, reasonText } from "./frame-text.ts";
import { countedText, pluralText, tokensText } from "./number-text.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { alignRows, type TableCell } from "./table.ts";
import { timeText } from "./time-text.ts";

/** The block's kind, how it is sent, and how it will be sent. */
export function blockSummaryLines({ block, pending }: BlockDetail, paint: Paint): readonly string[] {
  const marks = [
    block.pinned ? "pinned" : "",
    block.focused ? "focused" : "",
    block.selected ? "selected" : "",
    block.withheld ? "withheld" : "",
  ].filter((mark) => mark !== "");
  const turnsLeft = block.ttl === null ? "" : `, ${pluralText(block.ttl, "turn")} left`;
  const lines: readonly (readonly [string, string])[] = [
    ["block", `#${block.n} ${printable(block.kind)} of turn ${block.turn}, message ${block.message}`],
    ["state", [printable(block.zone), printable(block.state), ...marks].join(", ")],
    ["last used", `turn ${block.lastUsedTurn}${turnsLeft}`],
    ["shown", formNames[block.shown]],
    ["wanted", formNames[block.wanted]],
    ...(pending === null ? [] : [["waits for", waitText(pending)] as const]),
  ];
  const cells = lines.map(([label, text]): readonly TableCell[] => [{ text: label, style: "dim" }, { text }]);
  return alignRows(cells, paint);
}

const waitTexts: Readonly<Record<PendingRow["waitsFor"], string>> = {
  rewrite: "the next rewrite: when the cache is cold, when it pays off, or when the window is nearly full",
  managed: "management: this session is only observed, so requests do not change",
  text: "nothing: no shorter text is stored, so the block stays as it is",
};

function waitText({ waitsFor, frees }: PendingRow): string {
  if (frees === null || frees === 0 || waitsFor !== "rewrite") return waitTexts[waitsFor];
  const tokens = tokensText(Math.abs(frees));
  return `${waitTexts[waitsFor]}; it will ${frees > 0 ? `free ~${tokens}` : `take ~${tokens} more`}`;
}

/** Every level with its size, and whether it is sent and wanted. */
export function levelLines({ block, levels }: BlockDetail, paint: Paint): readonly string[] {
  const rows = levels.map(({ level, tokens, exact }): readonly TableCell[] => {
    const notes = [block.shown === level ? "shown" : "", block.wanted === level ? "wanted" : ""];
    return [
      { text: `  ${formNames[level]}` },
      { text: tokens === null ? "not stored" : countedText(tokens, exact), align: "right" },
      { text: notes.filter((note) => note !== "").join(", "), style: "cyan" },
    ];
  });
  return [paint("dim", "levels"), ...alignRows(rows, paint)];
}

const historyMax = 10;

type HistoryInput = { readonly paint: Paint; readonly nowMs: number };

/** The history of the block, newest last, without frames that only record references. */
export function historyLines({ history }: BlockDetail, { paint, nowMs }: HistoryInput): readonly string[] {
  const changes = history.filter(({ deltas }) => deltas.some((type) => type !== "reference-set"));
  const rows = changes.slice(-historyMax).map((row) => historyCells(row, nowMs));
  return rows.length === 0 ? [] : [paint("dim", "history"), ...alignRows(rows, paint)];
}

function historyCells(
  { seq, time, actor, reason, did, deltas }: HistoryRow,
  nowMs: number,
): readonly TableCell[] {
  return [
    { text: `  ${seq}`, align: "right", style: "dim" },
    { text: timeText(time, nowMs) },
    { text: printable(actor), style: "bold" },
    { text: `${did === "" ? bookkeepingText(deltas) : printable(did, 80)}${reasonText(reason, 60)}` },
  ];
}

/** A frame that did nothing to the block except send it. */
function bookkeepingText(types: readonly string[]): string {
  return types.includes("turn-sent") ? "sent with a turn" : deltaTypesText(types);
}
