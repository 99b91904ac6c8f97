import { must } from "../base/index.ts";
import type { Exchange, Mode, RecordedExchange, Usage } from "../engine/frames/index.ts";
import { exchangesOf, type Moment, modeOf } from "../engine/moment/index.ts";
import { modelIn, streamsOf, viewIn } from "../log/index.ts";
import { lastUsage, windowRow } from "../recorder/index.ts";
import type { SessionRow } from "./answers/session-answers.ts";
import { blockRows } from "./block-row.ts";
import { streamModeOf } from "./choose-stream.ts";
import { countedTokens, type StateRowDeps } from "./state-row.ts";

/** Two facts that the state does not hold: the name is in a content, the time in a frame. */
export type SessionFacts = { readonly name: string; readonly lastActivity: number | null };

export type SessionRowDeps = StateRowDeps & {
  /** The configured mode, for sessions whose mode the user has not set. */
  readonly mode?: Mode;
};

export function sessionRow(moment: Moment, facts: SessionFacts, deps: SessionRowDeps): SessionRow {
  const { state } = moment;
  const exchanges = exchangesOf(moment);
  const main = streamsOf(moment)[0] ?? null;
  const view = main === null ? null : viewIn(moment, main);
  const model = modelIn(moment, main);
  const estimate = () =>
    view === null ? 0 : countedTokens(blockRows(moment, must(main, "a view has a stream"), view));
  const usage = view === null ? null : lastUsage(moment, view);
  return {
    id: state.session,
    name: facts.name,
    client: state.identity?.client ?? "unknown",
    project: state.identity?.project ?? null,
    upstream: state.identity?.upstream ?? null,
    model,
    ...sessionStatus(exchanges),
    mode: modeOf(moment) ?? (streamModeOf(moment, null) === "observe" ? "observe" : (deps.mode ?? "auto")),
    seq: moment.seq,
    window: windowRow({ usage, estimate, size: deps.windowOf(model) }),
    lastActivity: facts.lastActivity,
    requests: exchanges.length,
    rendered: exchanges.filter(({ rendering }) => rendering !== "raw").length,
    streams: streamsOf(moment).length,
    cached: usage === null ? 0 : usage.cacheRead + usage.cacheWrite,
    usage: totalUsage(exchanges),
    usages: usagesByModel(exchanges),
  };
}

/** Only these roles make a session fail: a count or a side request may fail unnoticed. */
const conversationRoles: readonly Exchange["role"][] = ["turn", "compaction", "unread"];

function sessionStatus(exchanges: readonly RecordedExchange[]): Pick<SessionRow, "state" | "failed"> {
  if (exchanges.some(({ end }) => end === null)) return { state: "active", failed: null };
  const last = exchanges.findLast(({ role }) => conversationRoles.includes(role));
  const failed = last === undefined ? null : failureOf(last);
  return { state: failed === null ? "idle" : "error", failed };
}

/** An aborted answer is no failure: the user wanted the client to stop. */
function failureOf({ id, end }: RecordedExchange): SessionRow["failed"] {
  if (end === null || end.outcome === "aborted") return null;
  const { outcome, status } = end;
  return outcome === "complete" && (status ?? 0) < 400 ? null : { exchange: id, outcome, status };
}

const noUsage: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

function totalUsage(exchanges: readonly RecordedExchange[]): Usage {
  const used = exchanges.flatMap(({ end }) => end?.usage ?? []);
  return used.reduce(
    (sum, one) => ({
      input: sum.input + one.input,
      cacheRead: sum.cacheRead + one.cacheRead,
      cacheWrite: sum.cacheWrite + one.cacheWrite,
      output: sum.output + one.output,
    }),
    noUsage,
  );
}

function usagesByModel(exchanges: readonly RecordedExchange[]): SessionRow["usages"] {
  const counted = exchanges.filter(({ end }) => (end?.usage ?? null) !== null);
  const models = [...new Set(counted.map(({ model }) => model))];
  return models.map((model) => ({
    model,
    usage: totalUsage(counted.filter((exchange) => exchange.model === model)),
  }));
}
