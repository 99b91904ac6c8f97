import type { HealthAnswer } from "../../control/index.ts";
import type { SessionsPage } from "../../session/index.ts";
import { apiPath } from "../api-path.ts";
import { giveUp, type ReadyCall } from "../call.ts";
import { answersByUpstream, type Figures, readFigures } from "../figure-reader.ts";
import { printable } from "../format/printable.ts";
import { recordingText } from "../format/recording.ts";
import { aligned, type Cell } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type Outcome, succeed } from "../outcome.ts";
import { exitCodes } from "../usage.ts";

/** Sessions with an open request are among those used last. */
const sessionsLookedAt = 100;

type Status = {
  readonly health: HealthAnswer;
  readonly sessions: {
    readonly active: number;
    readonly managed: number;
    readonly known: number;
    readonly isAll: boolean;
  };
  readonly figures: Figures;
};

export async function status(call: ReadyCall): Promise<number> {
  const found = await read(call);
  const { url } = call.api;
  if (!found.ok) {
    if (wantsJson(call) && found.problem.exit === exitCodes.stopped) {
      printJson(call, JSON.stringify({ v: 1, running: false, url }));
    }
    return giveUp(call, found.problem);
  }
  if (wantsJson(call)) return printJson(call, JSON.stringify(asData(url, found.value)));
  for (const line of aligned(rowsOf(call, found.value), call.screen.paint)) call.screen.out(line);
  return exitCodes.ok;
}

async function read({ api }: ReadyCall): Promise<Outcome<Status>> {
  const health = await api.json<HealthAnswer>(apiPath("/health"));
  if (!health.ok) return health;
  const page = await api.json<SessionsPage>(apiPath("/sessions", { limit: sessionsLookedAt }));
  if (!page.ok) return page;
  const metrics = await api.text("/metrics");
  if (!metrics.ok) return metrics;
  const { rows, next } = page.value.value;
  const active = rows.filter(({ state }) => state === "active").length;
  const managed = rows.filter(({ mode }) => mode !== "observe").length;
  const sessions = { active, managed, known: rows.length, isAll: next === null };
  return succeed({ health: health.value.value, sessions, figures: readFigures(metrics.value) });
}

function asData(url: string, { health, sessions, figures }: Status) {
  return { v: 1, running: true, url, health, sessions, figures: Object.fromEntries(figures) };
}

function rowsOf({ api, version, settings }: ReadyCall, status: Status): readonly (readonly Cell[])[] {
  const { health, sessions, figures } = status;
  const other = health.version === version ? "" : `, while this command is ${version}`;
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

function sessionsText({ known, active, managed, isAll }: Status["sessions"]): string {
  return `${known}${isAll ? "" : " or more"}, ${active} active, ${managed} managed, ${known - managed} observed`;
}

function label(text: string): Cell {
  return { text, style: "dim" };
}

function row(name: string, text: string): readonly Cell[] {
  return [label(name), { text }];
}

/** Since it was started; what lies before is in the sessions. */
function requestsText(figures: Figures): string {
  const of = (name: string) => figures.get(name) ?? 0;
  const parts = [
    `${of("requests_total")} since the start`,
    `${of("requests_active")} open`,
    ...some(of("requests_refused_total"), "refused"),
    ...some(of("requests_aborted_total"), "given up by the client"),
    ...some(of("upstream_failures_total"), "failed upstream"),
    ...some(of("upstream_truncated_total"), "broken off"),
  ];
  return parts.join(", ");
}

function some(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}

function upstreamsText(figures: Figures, addresses: HealthAnswer["upstreams"]): string {
  const answers = [...answersByUpstream(figures)].map(
    ([name, counts]) =>
      `${printable(name)} ${printable(addresses[name] ?? "(yours, or aperture-demo)", 120)} ${counts.join(" ")}`,
  );
  const first = printable(addresses["anthropic"] ?? "", 120);
  return answers.length === 0 ? `none has answered yet; anthropic is ${first}` : answers.join(", ");
}
