import { fail, ok, type Result } from "../base/index.ts";
import { type Level, levels } from "../engine/frames/index.ts";
import type { Asker, Question } from "../host/index.ts";
import type { DiffQuery, ExpansionQuery } from "../queries/index.ts";
import type { ReaderName } from "./contract.ts";
import { glanceAt } from "./glance.ts";
import { type ControlRequest, numberParam, parseRange } from "./match-route.ts";
import { priceApprovals } from "./priced-commands.ts";
import { priceRequestDetail, priceRequests } from "./priced-requests.ts";
import { priceSessionDetail, priceSessions } from "./priced-sessions.ts";
import { fileAnswer, type HttpAnswer, jsonAnswer } from "./respond.ts";

/** Handles a route that reads: turns the address into a query, and its answer into a response. */
export type Reader = (
  ask: Asker,
  request: ControlRequest,
  params: RouteParams,
) => Promise<Result<HttpAnswer>>;
export type RouteParams = Readonly<Record<string, string>>;

const sessionsDefault = 50;
const stepsDefault = 50;
const rowsDefault = 100;

export const readers: Readonly<Record<ReaderName, Reader>> = {
  sessions: async (ask, request) => {
    const before = request.query.get("before");
    const limit = numberParam(request, "limit") ?? sessionsDefault;
    const page = await ask({ type: "sessions", limit, ...(before === null ? {} : { before }) });
    return page.ok ? ok(jsonAnswer(priceSessions(page.value))) : page;
  },
  session: async (ask, _, params) => {
    const detail = await ask({ type: "session", session: sessionParam(params) });
    return detail.ok ? ok(jsonAnswer(priceSessionDetail(detail.value))) : detail;
  },
  glance: async (ask, _, params) => {
    const glance = await glanceAt(ask, sessionParam(params));
    return glance.ok ? ok(jsonAnswer(glance.value)) : glance;
  },
  state: (ask, request, params) =>
    askForJson(ask, {
      type: "state",
      session: sessionParam(params),
      ...numberParams(request, "at", "stream", "from", "rows"),
    }),
  block: async (ask, request, params) => {
    const level = request.query.get("level") ?? "original";
    if (!isLevel(level)) return fail("AP_QUERY_INVALID", { problem: levelProblem });
    return await askForJson(ask, {
      type: "block",
      session: sessionParam(params),
      block: Number(params["block"]),
      level,
      ...numberParams(request, "at", "stream", "from", "length"),
    });
  },
  selection: (ask, request, params) =>
    askForJson(ask, { type: "selection", session: sessionParam(params), ...numberParams(request, "stream") }),
  approvals: async (ask, request, params) => {
    const all = numberParam(request, "all") === 1;
    const session = sessionParam(params);
    const page = await ask({ type: "approvals", session, all, ...numberParams(request, "stream") });
    return page.ok ? ok(jsonAnswer(priceApprovals(page.value))) : page;
  },
  labels: async (ask, request, params) => {
    const blocks = parseBlockList(request.query.get("blocks") ?? "");
    if (blocks === null) return fail("AP_QUERY_INVALID", { problem: labelsProblem });
    return await askForJson(ask, { type: "labels", session: sessionParam(params), blocks });
  },
  transcript: (ask, request, params) =>
    askForJson(ask, {
      type: "transcript",
      session: sessionParam(params),
      ...numberParams(request, "at", "stream"),
    }),
  previews: (ask, _, params) =>
    askForJson(ask, { type: "previews", session: sessionParam(params), block: Number(params["block"]) }),
  permissions: (ask) => askForJson(ask, { type: "permissions" }),
  mode: (ask, _, params) => askForJson(ask, { type: "mode", session: sessionParam(params) }),
  steps: (ask, request, params) => {
    const limit = numberParam(request, "limit") ?? stepsDefault;
    return askForJson(ask, {
      type: "steps",
      session: sessionParam(params),
      limit,
      ...numberParams(request, "below"),
    });
  },
  manifest: async (ask, request, params) => {
    const detail = request.query.get("detail") ?? "summary";
    if (detail !== "summary" && detail !== "detailed") {
      return fail("AP_QUERY_INVALID", { problem: "detail must be summary or detailed" });
    }
    const session = sessionParam(params);
    return await askForJson(ask, { type: "manifest", session, detail, ...numberParams(request, "stream") });
  },
  expansion: async (ask, request, params) => {
    const from = parseExpansionFrom(request);
    if (from === null) return fail("AP_QUERY_INVALID", { problem: expansionProblem });
    const session = sessionParam(params);
    return await askForJson(ask, { type: "expansion", session, from, ...numberParams(request, "stream") });
  },
  requests: async (ask, request, params) => {
    const page = await ask({ type: "requests", session: sessionParam(params), ...parsePageSpan(request) });
    return page.ok ? ok(jsonAnswer(priceRequests(page.value))) : page;
  },
  request: async (ask, _, params) => {
    const detail = await ask({
      type: "request",
      session: sessionParam(params),
      exchange: exchangeParam(params),
    });
    return detail.ok ? ok(jsonAnswer(priceRequestDetail(detail.value))) : detail;
  },
  "request-diff": async (ask, request, params) => {
    const base = parseDiffWith(request.query.get("with"));
    if (base === undefined) return fail("AP_QUERY_INVALID", { problem: withProblem });
    const exchange = exchangeParam(params);
    return await askForJson(ask, { type: "diff", session: sessionParam(params), exchange, with: base });
  },
  "client-body": (ask, _, params) => bodyFile(ask, params, "client-request"),
  "upstream-body": (ask, _, params) => bodyFile(ask, params, "upstream-request"),
  "response-body": (ask, _, params) => bodyFile(ask, params, "upstream-response"),
  frames: (ask, request, params) =>
    askForJson(ask, { type: "frames", session: sessionParam(params), ...parsePageSpan(request) }),
};

async function askForJson(ask: Asker, query: Question): Promise<Result<HttpAnswer>> {
  const answer = await ask(query);
  return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
}

type RequestBodySide = "client-request" | "upstream-request" | "upstream-response";

async function bodyFile(ask: Asker, params: RouteParams, side: RequestBodySide): Promise<Result<HttpAnswer>> {
  const exchange = exchangeParam(params);
  const answer = await ask({ type: "body", session: sessionParam(params), exchange, side });
  return answer.ok ? ok(fileAnswer(answer.value.bytes, `${exchange}-${side}.bin`)) : answer;
}

const levelProblem = `level must be one of ${levels.join(", ")}`;

function isLevel(text: string): text is Level {
  return levels.some((level) => level === text);
}

const withProblem = "give the number of a request, or with=previous";

/** Undefined if it is neither. */
function parseDiffWith(text: string | null): DiffQuery["with"] | undefined {
  if (text === null || text === "previous") return text;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const labelsMax = 200;
const labelsProblem = `give the numbers of at most ${labelsMax} blocks: blocks=12,13,27`;

function parseBlockList(text: string): readonly number[] | null {
  const numbers = text.split(",");
  if (numbers.length > labelsMax || !numbers.every((each) => /^\d{1,15}$/.test(each))) return null;
  return numbers.map(Number);
}

const expansionProblem = "give either block=27 or messages=10..25";

function parseExpansionFrom(request: ControlRequest): ExpansionQuery["from"] | null {
  const [block, messages] = [numberParam(request, "block"), request.query.get("messages")];
  if (block !== undefined) return messages === null ? { block } : null;
  return messages === null ? null : parseRange(messages);
}

export function sessionParam(params: RouteParams): string {
  const encoded = params["session"] ?? "";
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

export function exchangeParam(params: RouteParams): number {
  return Number(params["exchange"]);
}

function parsePageSpan(request: ControlRequest): { readonly after: number; readonly limit: number } {
  return { after: numberParam(request, "after") ?? 0, limit: numberParam(request, "limit") ?? rowsDefault };
}

/** Only the parameters that are given, so that the query leaves the others out. */
export function numberParams<N extends string>(
  request: ControlRequest,
  ...names: readonly N[]
): Readonly<Partial<Record<N, number>>> {
  const found = names.flatMap((name) => {
    const value = numberParam(request, name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found) as Partial<Record<N, number>>; // the entries have these names only
}
