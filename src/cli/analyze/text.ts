import type { Totals } from "../../analysis/index.ts";
import { manyText, tokensText } from "../format/numbers.ts";
import type { Paint, Style } from "../format/paint.ts";
import { cutColumns, printable } from "../format/printable.ts";
import { aligned, type Cell } from "../format/table.ts";
import {
  asIfText,
  clientRows,
  daysText,
  isManagedToday,
  kindWords,
  type Report,
  savedShare,
  savedText,
  saysUsage,
  shareText,
  usdText,
} from "./report.ts";

const rowsMax = 8;
const barColumns = 30;
const nameColumns = 44;

/** The report for a terminal. */
export function textReport(report: Report, paint: Paint): readonly string[] {
  const { totals } = report;
  return [
    ...headLines(report, paint),
    ...section("What fills these contexts", "tokens over all requests, ~ estimated", paint),
    ...kindLines(totals, paint),
    ...weightLines("by tool", totals.tools, { totals, paint }),
    ...weightLines("by file", totals.files, { totals, paint }),
    ...section("What repeats", "", paint),
    ...repeatLines(totals, paint),
    ...section("What was never used again", "", paint),
    ...idleLines(report, paint),
    ...section("What it cost", "as the provider reported it", paint),
    ...spentLines(totals, paint),
    ...section("What Aperture would have saved", "a simulation, misses charged", paint),
    ...savedLines(report, paint),
    ...restLines(report, paint),
  ];
}

function headLines({ totals, leftOut }: Report, paint: Paint): readonly string[] {
  const { sessions, requests, agents, compactions } = totals;
  const parts = [
    manyText(sessions, "session"),
    manyText(requests, "request"),
    ...(agents === 0 ? [] : [manyText(agents, "agent")]),
    ...(compactions === 0 ? [] : [`${manyText(compactions, "time")} begun anew by the client`]),
    daysText(totals),
  ];
  const older =
    leftOut === 0 ? [] : [`${manyText(leftOut, "older session")} left out; --limit N looks at more`];
  return [paint("bold", parts.filter((part) => part !== "").join("  ")), ...older];
}

function section(title: string, remark: string, paint: Paint): readonly string[] {
  return ["", `${paint("bold", title)}${remark === "" ? "" : `  ${paint("dim", remark)}`}`];
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar as long as its share of a whole. */
export function barText(share: number, columns = barColumns): string {
  const cells = Math.max(0, Math.min(1, share)) * columns;
  const whole = Math.floor(cells);
  return "█".repeat(whole) + (eighths[Math.floor((cells - whole) * 8)] ?? "");
}

const kindStyles: Readonly<Record<string, Style>> = {
  "tool-result": "cyan",
  "tool-call": "blue",
  system: "dim",
  user: "green",
  assistant: "yellow",
};

function kindLines({ kinds }: Totals, paint: Paint): readonly string[] {
  const rows = kindWords.flatMap(([kind, words]) => {
    const weight = kinds[kind];
    return weight === undefined ? [] : [{ kind, words, ...weight }];
  });
  const whole = rows.reduce((sum, { carried }) => sum + carried, 0);
  rows.sort((a, b) => b.carried - a.carried);
  const cells = rows.map(({ kind, words, carried, written }): readonly Cell[] => [
    { text: `  ${words}` },
    { text: barText(carried / whole).padEnd(barColumns), style: kindStyles[kind] ?? "cyan" },
    { text: shareText(carried, whole), align: "right" },
    { text: `~${tokensText(carried)}`, align: "right" },
    { text: `written once ~${tokensText(written)}`, style: "dim" },
  ]);
  return aligned(cells, paint);
}

type Listing = { readonly totals: Totals; readonly paint: Paint };

function weightLines(
  title: string,
  rows: Totals["tools"],
  { totals: { kinds }, paint }: Listing,
): readonly string[] {
  if (rows.length === 0) return [];
  const whole = Object.values(kinds).reduce((sum, { carried }) => sum + carried, 0);
  const shown = rows.slice(0, rowsMax);
  const most = shown[0]?.carried ?? 1;
  const cells = shown.map(({ name, carried, blocks }): readonly Cell[] => [
    { text: `    ${pathText(name)}` },
    { text: barText(carried / most, 12).padEnd(12), style: "blue" },
    { text: shareText(carried, whole), align: "right" },
    { text: `~${tokensText(carried)}`, align: "right" },
    { text: manyText(blocks, "block"), style: "dim" },
  ]);
  return [paint("dim", `  ${title}`), ...aligned(cells, paint)];
}

/** The end of a path tells more than its beginning. */
function pathText(name: string): string {
  const text = printable(name, 400);
  return text.length <= nameColumns ? text : `…${text.slice(-(nameColumns - 1))}`;
}

function repeatLines({ repeats }: Totals, paint: Paint): readonly string[] {
  const { resultTokens, seenTokens, calls } = repeats;
  const said = `${shareText(seenTokens, resultTokens)} of what tools returned stood in an earlier result`;
  const cells = calls
    .slice(0, rowsMax)
    .map(({ label, times, tokens }): readonly Cell[] => [
      { text: `    ${times}x`, align: "right" },
      { text: printable(label, nameColumns + 12) },
      { text: `~${tokensText(tokens)} again`, align: "right", style: "dim" },
    ]);
  const sizes = `(~${tokensText(seenTokens)} of ~${tokensText(resultTokens)} tokens)`;
  return [`  ${paint("bold", said)} ${sizes}`, ...aligned(cells, paint)];
}

function idleLines({ totals: { idle }, sessions }: Report, paint: Paint): readonly string[] {
  const { results, neverUsed, neverUsedTokens, carried, idleCarried } = idle;
  const blocks = sessions
    .flatMap(({ contents }) => contents.idle.blocks)
    .sort((a, b) => b.tokens * b.idlePrompts - a.tokens * a.idlePrompts)
    .slice(0, rowsMax);
  const cells = blocks.map(({ label, tokens, idlePrompts, usedAt }): readonly Cell[] => [
    { text: `    ${printable(label, nameColumns + 4)}` },
    { text: `~${tokensText(tokens)}`, align: "right" },
    { text: `carried ${manyText(idlePrompts, "request")} for nothing`, align: "right" },
    { text: usedAt === null ? "never used" : `last used by request ${usedAt}`, style: "dim" },
  ]);
  const never = `${neverUsed} of ${results} results (${shareText(neverUsed, results)}, ~${tokensText(neverUsedTokens)} tokens)`;
  return [
    `  ${paint("bold", `${shareText(idleCarried, carried)} of the room that results took`)} was taken after their last use`,
    `  ${never} were used by no answer at all`,
    ...aligned(cells, paint),
  ];
}

function spentLines({ spent }: Totals, paint: Paint): readonly string[] {
  const { uncounted, unpriced, usd } = spent;
  if (!saysUsage(spent)) return ["  these transcripts say nothing about usage"];
  const prompt = spent.input + spent.cacheRead + spent.cacheWrite;
  const cells = (
    [
      ["read from cache", spent.cacheRead],
      ["written to cache", spent.cacheWrite],
      ["other input", spent.input],
    ] as const
  ).map(([words, tokens]): readonly Cell[] => [
    { text: `  ${words}` },
    { text: barText(tokens / prompt).padEnd(barColumns), style: "green" },
    { text: shareText(tokens, prompt), align: "right" },
    { text: tokensText(tokens), align: "right" },
  ]);
  const output: readonly Cell[] = [
    { text: "  output" },
    { text: " ".repeat(barColumns) },
    { text: "" },
    { text: tokensText(spent.output), align: "right" },
  ];
  const money =
    usd === null ? [] : [`  ${paint("bold", usdText(usd))} by list prices${unpricedText(unpriced)}`];
  const tokensOnly = usd === null ? ["  nobody has a price of these models: tokens only"] : [];
  const silent = uncounted === 0 ? [] : [`  ${manyText(uncounted, "request")} without reported usage`];
  return [...aligned([...cells, output], paint), ...money, ...tokensOnly, ...silent];
}

function unpricedText(requests: number): string {
  return requests === 0 ? "" : `, without ${manyText(requests, "request")} to models nobody has a price of`;
}

function savedLines(report: Report, paint: Paint): readonly string[] {
  const { simulated, requests } = report.totals;
  const { asSent, charged, usd, misses, managedRequests, promptTokens, rewrites } = simulated;
  const most = Math.max(asSent, charged);
  const money = (of: number | null): string => (of === null ? "" : usdText(of));
  const cells: readonly (readonly Cell[])[] = [
    [
      { text: "  as sent" },
      { text: barText(asSent / most).padEnd(barColumns), style: "yellow" },
      { text: `~${tokensText(Math.round(asSent))}`, align: "right" },
      { text: money(usd.asSent), align: "right" },
    ],
    [
      { text: "  with Aperture" },
      { text: barText(charged / most).padEnd(barColumns), style: "green" },
      { text: `~${tokensText(Math.round(charged))}`, align: "right" },
      { text: money(usd.charged), align: "right" },
      { text: savedText(savedShare(simulated)), style: "bold" },
    ],
  ];
  const sent = shareText(promptTokens.managed, promptTokens.asSent);
  const asIf = asIfText(report.sessions);
  const reasons = Object.entries(rewrites).map(([reason, count]) => `${count} ${reason}`);
  return [
    paint("dim", "  input priced in tokens of plain input; output is the same and left out"),
    ...aligned(cells, paint),
    ...pricedLines(report),
    ...clientLines(report, paint),
    ...(asIf === null ? [] : [`  ${asIf}`]),
    `  ${managedRequests} of ${requests} requests managed; ${sent} of the tokens sent; ` +
      `rewrites: ${reasons.join(", ") || "none"}`,
    `  ${misses} of ${requests} answers would have missed a name, and were charged for it`,
  ];
}

function pricedLines({ totals: { simulated, sessions } }: Report): readonly string[] {
  const { usd } = simulated;
  if (usd.sessions === sessions) return [];
  const known = `${usd.sessions} of ${manyText(sessions, "session")}`;
  return [`  dollars are for ${known}: nobody has a price of the models in the others`];
}

function clientLines({ sessions }: Report, paint: Paint): readonly string[] {
  const rows = clientRows(sessions);
  const cells = rows.map((row): readonly Cell[] => [
    { text: `    ${row.client}` },
    { text: manyText(row.sessions, "session"), align: "right" },
    { text: manyText(row.requests, "request"), align: "right" },
    { text: `${savedText(savedShare(row))}${isManagedToday(row.client) ? "" : ", if it were managed"}` },
  ]);
  return rows.length < 2 ? [] : aligned(cells, paint);
}

const problemsMax = 10;

function restLines({ method, problems }: Report, paint: Paint): readonly string[] {
  const told = problems.slice(0, problemsMax).map(({ file, problem, count, line }) => {
    const place = line === null ? "" : `, first in line ${line}`;
    return `  ${count} ${printable(problem, 90)}${place}: ${cutColumns(printable(file, 200), 90)}`;
  });
  const more =
    problems.length > problemsMax ? [`  and ${problems.length - problemsMax} more; --json has all`] : [];
  const unread = told.length === 0 ? [] : [...section("What could not be read", "", paint), ...told, ...more];
  return [...unread, ...section("How this was counted", "", paint), ...method.flatMap(wrapped)];
}

const lineColumns = 96;

/** In lines that are easy to read, the first of them with a dash. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > lineColumns) lines.push(`    ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line, at) => (at === 0 ? `  - ${line.trimStart()}` : line));
}
