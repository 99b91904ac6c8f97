import { must } from "../../base/index.ts";
import {
  type ExchangeRole,
  exchangesOf,
  type Mode,
  type Moment,
  modeOf,
  type RecordedExchange,
  type Usage,
} from "../../engine/index.ts";
import { blockRows } from "./block-row.ts";
import { modeIn, modelIn, streamsOf, viewIn } from "./look.ts";
import type { SessionRow } from "./rows.ts";
import { countedTokens, type Sizes } from "./state-row.ts";
import { lastUsage, windowRow } from "./window-row.ts";

/** Two facts that are not in the state: the name is in a content, the time in a frame. */
export type Known = { readonly name: string; readonly lastActivity: number | null };

/** `mode`: as it is configured, for sessions about which the user has said nothing. */
export type SessionSizes = Sizes & { readonly mode?: Mode };

export function sessionRow(moment: Moment, known: Known, sizes: SessionSizes): SessionRow {
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
    name: known.name,
    client: state.identity?.client ?? "unknown",
    project: state.identity?.project ?? null,
    upstream: state.identity?.upstream ?? null,
    model,
    ...standing(exchanges),
    mode: modeOf(moment) ?? (modeIn(moment, null) === "observe" ? "observe" : (sizes.mode ?? "auto")),
    seq: moment.seq,
    window: windowRow({ usage, estimate, size: sizes.windowOf(model) }),
    lastActivity: known.lastActivity,
    requests: exchanges.length,
    rendered: exchanges.filter(({ rendering }) => rendering !== "raw").length,
    streams: streamsOf(moment).length,
    cached: usage === null ? 0 : usage.cacheRead + usage.cacheWrite,
    usage: totalUsage(exchanges),
    usages: usagesOf(exchanges),
  };
}

/** A count or a request beside the talk may fail without anybody missing it. */
const talked: readonly ExchangeRole[] = ["turn", "compaction", "unread"];

function standing(exchanges: readonly RecordedExchange[]): Pick<SessionRow, "state" | "failed"> {
  if (exchanges.some(({ end }) => end === null)) return { state: "active", failed: null };
  const last = exchanges.findLast(({ role }) => talked.includes(role));
  const failed = last === undefined ? null : failureOf(last);
  return { state: failed === null ? "idle" : "error", failed };
}

/** A client that leaves in the middle of an answer has done so because its user wanted it. */
function failureOf({ id, end }: RecordedExchange): SessionRow["failed"] {
  if (end === null || end.outcome === "aborted") return null;
  const { outcome, status } = end;
  return outcome === "complete" && (status ?? 0) < 400 ? null : { exchange: id, outcome, status };
}

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

function totalUsage(exchanges: readonly RecordedExchange[]): Usage {
  const used = exchanges.flatMap(({ end }) => end?.usage ?? []);
  return used.reduce(
    (sum, one) => ({
      input: sum.input + one.input,
      cacheRead: sum.cacheRead + one.cacheRead,
      cacheWrite: sum.cacheWrite + one.cacheWrite,
      output: sum.output + one.output,
    }),
    nothing,
  );
}

function usagesOf(exchanges: readonly RecordedExchange[]): SessionRow["usages"] {
  const counted = exchanges.filter(({ end }) => (end?.usage ?? null) !== null);
  const models = [...new Set(counted.map(({ model }) => model))];
  return models.map((model) => ({
    model,
    usage: totalUsage(counted.filter((exchange) => exchange.model === model)),
  }));
}
