import { fail, ok, type Result } from "../base/index.ts";
import { type Level, levels } from "../engine/index.ts";
import type { Ask, DiffQuestion, ExpansionQuestion, Question } from "../session/index.ts";
import { pricedDetail, pricedPage } from "./bills.ts";
import { pricedApprovals } from "./command-bills.ts";
import type { ReaderName } from "./contract.ts";
import { glanceAt } from "./glance.ts";
import { type Asked, numberIn, rangeIn } from "./match.ts";
import { type Answer, attachment, json } from "./respond.ts";
import { pricedSessionDetail, pricedSessions } from "./spend.ts";

/** From the parts of an address to a question, and from its answer to what is sent. */
export type Reader = (ask: Ask, asked: Asked, params: Params) => Promise<Result<Answer>>;
export type Params = Readonly<Record<string, string>>;

const sessionsUsual = 50;
const stepsUsual = 50;
const rowsUsual = 100;

export const readers: Readonly<Record<ReaderName, Reader>> = {
  sessions: async (ask, asked) => {
    const before = asked.query.get("before");
    const limit = numberIn(asked, "limit") ?? sessionsUsual;
    const page = await ask({ type: "sessions", limit, ...(before === null ? {} : { before }) });
    return page.ok ? ok(json(pricedSessions(page.value))) : page;
  },
  session: async (ask, _, params) => {
    const detail = await ask({ type: "session", session: sessionIn(params) });
    return detail.ok ? ok(json(pricedSessionDetail(detail.value))) : detail;
  },
  glance: async (ask, _, params) => {
    const glance = await glanceAt(ask, sessionIn(params));
    return glance.ok ? ok(json(glance.value)) : glance;
  },
  state: (ask, asked, params) =>
    inJson(ask, {
      type: "state",
      session: sessionIn(params),
      ...given(asked, "at", "stream", "from", "rows"),
    }),
  block: async (ask, asked, params) => {
    const level = asked.query.get("level") ?? "original";
    if (!isLevel(level)) return fail("AP_QUERY_INVALID", { problem: levelProblem });
    return await inJson(ask, {
      type: "block",
      session: sessionIn(params),
      block: Number(params["block"]),
      level,
      ...given(asked, "at", "stream", "from", "length"),
    });
  },
  selection: (ask, asked, params) =>
    inJson(ask, { type: "selection", session: sessionIn(params), ...given(asked, "stream") }),
  approvals: async (ask, asked, params) => {
    const all = numberIn(asked, "all") === 1;
    const session = sessionIn(params);
    const page = await ask({ type: "approvals", session, all, ...given(asked, "stream") });
    return page.ok ? ok(json(pricedApprovals(page.value))) : page;
  },
  labels: async (ask, asked, params) => {
    const blocks = blocksIn(asked.query.get("blocks") ?? "");
    if (blocks === null) return fail("AP_QUERY_INVALID", { problem: labelsProblem });
    return await inJson(ask, { type: "labels", session: sessionIn(params), blocks });
  },
  transcript: (ask, asked, params) =>
    inJson(ask, { type: "transcript", session: sessionIn(params), ...given(asked, "at", "stream") }),
  previews: (ask, _, params) =>
    inJson(ask, { type: "previews", session: sessionIn(params), block: Number(params["block"]) }),
  permissions: (ask) => inJson(ask, { type: "permissions" }),
  mode: (ask, _, params) => inJson(ask, { type: "mode", session: sessionIn(params) }),
  steps: (ask, asked, params) => {
    const limit = numberIn(asked, "limit") ?? stepsUsual;
    return inJson(ask, { type: "steps", session: sessionIn(params), limit, ...given(asked, "below") });
  },
  manifest: async (ask, asked, params) => {
    const detail = asked.query.get("detail") ?? "summary";
    if (detail !== "summary" && detail !== "detailed") {
      return fail("AP_QUERY_INVALID", { problem: "detail must be summary or detailed" });
    }
    const session = sessionIn(params);
    return await inJson(ask, { type: "manifest", session, detail, ...given(asked, "stream") });
  },
  expansion: async (ask, asked, params) => {
    const from = expansionFrom(asked);
    if (from === null) return fail("AP_QUERY_INVALID", { problem: expansionProblem });
    const session = sessionIn(params);
    return await inJson(ask, { type: "expansion", session, from, ...given(asked, "stream") });
  },
  requests: async (ask, asked, params) => {
    const page = await ask({ type: "requests", session: sessionIn(params), ...spanIn(asked) });
    return page.ok ? ok(json(pricedPage(page.value))) : page;
  },
  request: async (ask, _, params) => {
    const detail = await ask({ type: "request", session: sessionIn(params), exchange: exchangeIn(params) });
    return detail.ok ? ok(json(pricedDetail(detail.value))) : detail;
  },
  "request-diff": async (ask, asked, params) => {
    const other = withIn(asked.query.get("with"));
    if (other === undefined) return fail("AP_QUERY_INVALID", { problem: withProblem });
    const exchange = exchangeIn(params);
    return await inJson(ask, { type: "diff", session: sessionIn(params), exchange, with: other });
  },
  "client-body": (ask, _, params) => body(ask, params, "client-request"),
  "upstream-body": (ask, _, params) => body(ask, params, "upstream-request"),
  "response-body": (ask, _, params) => body(ask, params, "upstream-response"),
  frames: (ask, asked, params) =>
    inJson(ask, { type: "frames", session: sessionIn(params), ...spanIn(asked) }),
};

async function inJson(ask: Ask, question: Question): Promise<Result<Answer>> {
  const answer = await ask(question);
  return answer.ok ? ok(json(answer.value)) : answer;
}

type BodySide = "client-request" | "upstream-request" | "upstream-response";

async function body(ask: Ask, params: Params, side: BodySide): Promise<Result<Answer>> {
  const exchange = exchangeIn(params);
  const answer = await ask({ type: "body", session: sessionIn(params), exchange, side });
  return answer.ok ? ok(attachment(answer.value.bytes, `${exchange}-${side}.bin`)) : answer;
}

const levelProblem = `level must be one of ${levels.join(", ")}`;

function isLevel(text: string): text is Level {
  return levels.some((level) => level === text);
}

const withProblem = "give the number of a request, or with=previous";

/** Undefined: it is neither. */
function withIn(text: string | null): DiffQuestion["with"] | undefined {
  if (text === null || text === "previous") return text;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const labelsMax = 200;
const labelsProblem = `give the numbers of at most ${labelsMax} blocks: blocks=12,13,27`;

function blocksIn(text: string): readonly number[] | null {
  const numbers = text.split(",");
  if (numbers.length > labelsMax || !numbers.every((each) => /^\d{1,15}$/.test(each))) return null;
  return numbers.map(Number);
}

const expansionProblem = "give either block=27 or messages=10..25";

function expansionFrom(asked: Asked): ExpansionQuestion["from"] | null {
  const [block, messages] = [numberIn(asked, "block"), asked.query.get("messages")];
  if (block !== undefined) return messages === null ? { block } : null;
  return messages === null ? null : rangeIn(messages);
}

export function sessionIn(params: Params): string {
  const written = params["session"] ?? "";
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

export function exchangeIn(params: Params): number {
  return Number(params["exchange"]);
}

function spanIn(asked: Asked): { readonly after: number; readonly limit: number } {
  return { after: numberIn(asked, "after") ?? 0, limit: numberIn(asked, "limit") ?? rowsUsual };
}

/** Only what was given: a question says nothing of what it leaves open. */
export function given<N extends string>(
  asked: Asked,
  ...names: readonly N[]
): Readonly<Partial<Record<N, number>>> {
  const found = names.flatMap((name) => {
    const value = numberIn(asked, name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found) as Partial<Record<N, number>>; // the entries have these names only
}
