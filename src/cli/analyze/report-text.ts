import type { Totals } from "../../analysis/index.ts";
import { pluralText, tokensText } from "../format/number-text.ts";
import type { Paint, Style } from "../format/paint.ts";
import { cutColumns, printable } from "../format/printable.ts";
import { alignRows, type TableCell } from "../format/table.ts";
import {
  clientSavings,
  daysText,
  hasUsage,
  isManagedToday,
  kindNames,
  notManagedText,
  savedShare,
  savedText,
  shareText,
  type UsageReport,
  usdText,
} from "./usage-report.ts";

const rowsMax = 8;
const barColumns = 30;
const nameColumns = 44;

/** The report for a terminal. */
export function textReport(report: UsageReport, paint: Paint): readonly string[] {
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
    ...methodLines(report, paint),
  ];
}

function headLines({ totals, leftOut }: UsageReport, paint: Paint): readonly string[] {
  const { sessions, requests, agents, compactions } = totals;
  const parts = [
    pluralText(sessions, "session"),
    pluralText(requests, "request"),
    ...(agents === 0 ? [] : [pluralText(agents, "agent")]),
    ...(compactions === 0 ? [] : [`${pluralText(compactions, "compaction")} by the client`]),
    daysText(totals),
  ];
  const older =
    leftOut === 0 ? [] : [`${pluralText(leftOut, "older session")} left out; --limit N includes more`];
  return [paint("bold", parts.filter((part) => part !== "").join("  ")), ...older];
}

function section(title: string, remark: string, paint: Paint): readonly string[] {
  return ["", `${paint("bold", title)}${remark === "" ? "" : `  ${paint("dim", remark)}`}`];
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

function barText(share: number, columns = barColumns): string {
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
  const rows = kindNames.flatMap(([kind, caption]) => {
    const weight = kinds[kind];
    return weight === undefined ? [] : [{ kind, caption, ...weight }];
  });
  const whole = rows.reduce((sum, { carried }) => sum + carried, 0);
  rows.sort((a, b) => b.carried - a.carried);
  const cells = rows.map(({ kind, caption, carried, written }): readonly TableCell[] => [
    { text: `  ${caption}` },
    { text: barText(carried / whole).padEnd(barColumns), style: kindStyles[kind] ?? "cyan" },
    { text: shareText(carried, whole), align: "right" },
    { text: `~${tokensText(carried)}`, align: "right" },
    { text: `counted once ~${tokensText(written)}`, style: "dim" },
  ]);
  return alignRows(cells, paint);
}

type WeightInput = { readonly totals: Totals; readonly paint: Paint };

function weightLines(
  title: string,
  rows: Totals["tools"],
  { totals: { kinds }, paint }: WeightInput,
): readonly string[] {
  if (rows.length === 0) return [];
  const whole = Object.values(kinds).reduce((sum, { carried }) => sum + carried, 0);
  const shown = rows.slice(0, rowsMax);
  const most = shown[0]?.carried ?? 1;
  const cells = shown.map(({ name, carried, blocks }): readonly TableCell[] => [
    { text: `    ${pathText(name)}` },
    { text: barText(carried / most, 12).padEnd(12), style: "blue" },
    { text: shareText(carried, whole), align: "right" },
    { text: `~${tokensText(carried)}`, align: "right" },
    { text: pluralText(blocks, "block"), style: "dim" },
  ]);
  return [paint("dim", `  ${title}`), ...alignRows(cells, paint)];
}

/** Shortens a path from the left, because its end says more than its start. */
function pathText(name: string): string {
  const text = printable(name, 400);
  return text.length <= nameColumns ? text : `…${text.slice(-(nameColumns - 1))}`;
}

function repeatLines({ repeats }: Totals, paint: Paint): readonly string[] {
  const { resultTokens, seenTokens, calls } = repeats;
  const text = `${shareText(seenTokens, resultTokens)} of tool output repeats an earlier result`;
  const cells = calls
    .slice(0, rowsMax)
    .map(({ label, times, tokens }): readonly TableCell[] => [
      { text: `    ${times}x`, align: "right" },
      { text: printable(label, nameColumns + 12) },
      { text: `~${tokensText(tokens)} repeated`, align: "right", style: "dim" },
    ]);
  const sizes = `(~${tokensText(seenTokens)} of ~${tokensText(resultTokens)} tokens)`;
  return [`  ${paint("bold", text)} ${sizes}`, ...alignRows(cells, paint)];
}

function idleLines({ totals: { idle }, sessions }: UsageReport, paint: Paint): readonly string[] {
  const { results, neverUsed, neverUsedTokens, carried, idleCarried } = idle;
  const blocks = sessions
    .flatMap(({ contents }) => contents.idle.blocks)
    .sort((a, b) => b.tokens * b.idlePrompts - a.tokens * a.idlePrompts)
    .slice(0, rowsMax);
  const cells = blocks.map(({ label, tokens, idlePrompts, usedAt }): readonly TableCell[] => [
    { text: `    ${printable(label, nameColumns + 4)}` },
    { text: `~${tokensText(tokens)}`, align: "right" },
    { text: `carried unused for ${pluralText(idlePrompts, "request")}`, align: "right" },
    { text: usedAt === null ? "never used" : `last used by request ${usedAt}`, style: "dim" },
  ]);
  const never = `${neverUsed} of ${results} results (${shareText(neverUsed, results)}, ~${tokensText(neverUsedTokens)} tokens)`;
  return [
    `  ${paint("bold", `${shareText(idleCarried, carried)} of the tokens spent on tool results`)} were sent again after their last use`,
    `  ${never} were never used by an answer`,
    ...alignRows(cells, paint),
  ];
}

function spentLines({ spent }: Totals, paint: Paint): readonly string[] {
  const { uncounted, unpriced, usd } = spent;
  if (!hasUsage(spent)) return ["  these transcripts report no usage"];
  const prompt = spent.input + spent.cacheRead + spent.cacheWrite;
  const cells = (
    [
      ["read from cache", spent.cacheRead],
      ["written to cache", spent.cacheWrite],
      ["other input", spent.input],
    ] as const
  ).map(([caption, tokens]): readonly TableCell[] => [
    { text: `  ${caption}` },
    { text: barText(tokens / prompt).padEnd(barColumns), style: "green" },
    { text: shareText(tokens, prompt), align: "right" },
    { text: tokensText(tokens), align: "right" },
  ]);
  const output: readonly TableCell[] = [
    { text: "  output" },
    { text: " ".repeat(barColumns) },
    { text: "" },
    { text: tokensText(spent.output), align: "right" },
  ];
  const money =
    usd === null ? [] : [`  ${paint("bold", usdText(usd))} by list prices${unpricedText(unpriced)}`];
  const tokensOnly = usd === null ? ["  the prices of these models are not known: tokens only"] : [];
  const silent = uncounted === 0 ? [] : [`  ${pluralText(uncounted, "request")} without reported usage`];
  return [...alignRows([...cells, output], paint), ...money, ...tokensOnly, ...silent];
}

function unpricedText(requests: number): string {
  return requests === 0
    ? ""
    : `, without ${pluralText(requests, "request")} to models that have no known price`;
}

function savedLines(report: UsageReport, paint: Paint): readonly string[] {
  const { simulated, requests } = report.totals;
  const { asSent, charged, usd, misses, managedRequests, promptTokens, rewrites } = simulated;
  const most = Math.max(asSent, charged);
  const money = (of: number | null): string => (of === null ? "" : usdText(of));
  const cells: readonly (readonly TableCell[])[] = [
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
  const asIf = notManagedText(report.sessions);
  const reasons = Object.entries(rewrites).map(([reason, count]) => `${count} ${reason}`);
  return [
    paint("dim", "  cost of input, in uncached input tokens; output costs the same and is left out"),
    ...alignRows(cells, paint),
    ...pricedLines(report),
    ...clientLines(report, paint),
    ...(asIf === null ? [] : [`  ${asIf}`]),
    `  ${managedRequests} of ${requests} requests managed; ${sent} of the tokens sent; ` +
      `rewrites: ${reasons.join(", ") || "none"}`,
    `  ${misses} of ${requests} answers would have missed a name, and are charged for it`,
  ];
}

function pricedLines({ totals: { simulated, sessions } }: UsageReport): readonly string[] {
  const { usd } = simulated;
  if (usd.sessions === sessions) return [];
  const known = `${usd.sessions} of ${pluralText(sessions, "session")}`;
  return [`  dollars are for ${known}: the others use models without a known price`];
}

function clientLines({ sessions }: UsageReport, paint: Paint): readonly string[] {
  const rows = clientSavings(sessions);
  const cells = rows.map((row): readonly TableCell[] => [
    { text: `    ${row.client}` },
    { text: pluralText(row.sessions, "session"), align: "right" },
    { text: pluralText(row.requests, "request"), align: "right" },
    { text: `${savedText(savedShare(row))}${isManagedToday(row.client) ? "" : ", if managed"}` },
  ]);
  return rows.length < 2 ? [] : alignRows(cells, paint);
}

const problemsMax = 10;

function methodLines({ method, problems }: UsageReport, paint: Paint): readonly string[] {
  const shown = problems.slice(0, problemsMax).map(({ file, problem, count, line }) => {
    const where = line === null ? "" : `, first in line ${line}`;
    return `  ${count} ${printable(problem, 90)}${where}: ${cutColumns(printable(file, 200), 90)}`;
  });
  const more =
    problems.length > problemsMax ? [`  and ${problems.length - problemsMax} more; --json has all`] : [];
  const unread =
    shown.length === 0 ? [] : [...section("What could not be read", "", paint), ...shown, ...more];
  return [...unread, ...section("How this was counted", "", paint), ...method.flatMap(bulletLines)];
}

const lineColumns = 96;

/** Wraps a text to readable lines, as a bullet. */
function bulletLines(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > lineColumns) lines.push(`    ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line, at) => (at === 0 ? `  - ${line.trimStart()}` : line));
}
