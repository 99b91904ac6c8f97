import type { HealthAnswer } from "../../control/index.ts";
import type { SessionsPage } from "../../queries/answers/index.ts";
import { apiPath } from "../api/api-path.ts";
import { type MetricValues, readMetrics, responsesByUpstream } from "../api/metrics-reader.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { recordingText } from "../format/recording-text.ts";
import { alignRows, type TableCell } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type CliResult, succeed } from "../outcome.ts";
import { type ReadyCall, reportProblem } from "../verb-call.ts";

/** Sessions with an open request are among the most recently used. */
const sessionsMax = 100;

type StatusFacts = {
  readonly health: HealthAnswer;
  readonly sessions: {
    readonly active: number;
    readonly managed: number;
    readonly known: number;
    readonly isAll: boolean;
  };
  readonly figures: MetricValues;
};

export async function status(call: ReadyCall): Promise<number> {
  const found = await readStatus(call);
  const { url } = call.api;
  if (!found.ok) {
    if (wantsJson(call) && found.problem.exit === exitCodes.stopped) {
      printJson(call, JSON.stringify({ v: 1, running: false, url }));
    }
    return reportProblem(call, found.problem);
  }
  if (wantsJson(call)) return printJson(call, JSON.stringify(toJson(url, found.value)));
  for (const line of alignRows(rowsOf(call, found.value), call.screen.paint)) call.screen.out(line);
  return exitCodes.ok;
}

async function readStatus({ api }: ReadyCall): Promise<CliResult<StatusFacts>> {
  const health = await api.json<HealthAnswer>(apiPath("/health"));
  if (!health.ok) return health;
  const page = await api.json<SessionsPage>(apiPath("/sessions", { limit: sessionsMax }));
  if (!page.ok) return page;
  const metrics = await api.text("/metrics");
  if (!metrics.ok) return metrics;
  const { rows, next } = page.value.value;
  const active = rows.filter(({ state }) => state === "active").length;
  const managed = rows.filter(({ mode }) => mode !== "observe").length;
  const sessions = { active, managed, known: rows.length, isAll: next === null };
  return succeed({ health: health.value.value, sessions, figures: readMetrics(metrics.value) });
}

function toJson(url: string, { health, sessions, figures }: StatusFacts) {
  return { v: 1, running: true, url, health, sessions, figures: Object.fromEntries(figures) };
}

function rowsOf(
  { api, version, settings }: ReadyCall,
  status: StatusFacts,
): readonly (readonly TableCell[])[] {
  const { health, sessions, figures } = status;
  const other = health.version === version ? "" : `; this command is ${version}`;
  const isWell = health.storage === "ok" && health.recording.on && health.recording.missed === 0;
  return [
    row("aperture", `${printable(health.version, 40)} on ${api.url}${other}`),
    row(
      "storage",
      `${health.storage}${health.message === null ? "" : `: ${printable(health.message, 300)}`}`,
    ),
    [label("recording"), { text: recordingText(health), style: isWell ? "green" : "yellow" }],
    row("sessions", sessionsText(sessions)),
    row("requests", requestsText(figures)),
    row("upstreams", upstreamsText(figures, health.upstreams)),
    row("data", settings.dataDir),
  ];
}

function sessionsText({ known, active, managed, isAll }: StatusFacts["sessions"]): string {
  return `${known}${isAll ? "" : " or more"}, ${active} active, ${managed} managed, ${known - managed} observed`;
}

function label(text: string): TableCell {
  return { text, style: "dim" };
}

function row(name: string, text: string): readonly TableCell[] {
  return [label(name), { text }];
}

/** Counts since the start. Older requests are in the sessions. */
function requestsText(figures: MetricValues): string {
  const of = (name: string) => figures.get(name) ?? 0;
  const parts = [
    `${of("requests_total")} since the start`,
    `${of("requests_active")} open`,
    ...countPart(of("requests_refused_total"), "refused"),
    ...countPart(of("requests_aborted_total"), "aborted by the client"),
    ...countPart(of("upstream_failures_total"), "failed upstream"),
    ...countPart(of("upstream_truncated_total"), "cut off upstream"),
  ];
  return parts.join(", ");
}

function countPart(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}

function upstreamsText(figures: MetricValues, addresses: HealthAnswer["upstreams"]): string {
  const answers = [...responsesByUpstream(figures)].map(
    ([name, counts]) =>
      `${printable(name)} ${printable(addresses[name] ?? "(yours, or aperture-demo)", 120)} ${counts.join(" ")}`,
  );
  const first = printable(addresses["anthropic"] ?? "", 120);
  return answers.length === 0 ? `no answer yet; anthropic is ${first}` : answers.join(", ");
}
