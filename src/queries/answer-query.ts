import { fail, isCount, limits, ok, type Result } from "../base/index.ts";
import type { State } from "../engine/index.ts";
import { momentAt, now } from "../engine/moment/index.ts";
import type { FramesPage } from "./answers/session-answers.ts";
import { blockDetail } from "./block-detail.ts";
import { labelsAnswer } from "./block-labels.ts";
import { requestDiff } from "./diff/request-diff.ts";
import { sentBodies } from "./diff/sent-bodies.ts";
import { expansionAnswer } from "./expansion.ts";
import { previewsAnswer } from "./level-previews.ts";
import { manifestAnswer } from "./next-manifest.ts";
import type { Query, QueryAnswers, QueryDeps } from "./queries.ts";
import { bodyAnswer, type PageSpan, requestDetail, requestsPage } from "./requests.ts";
import { selectionAnswer } from "./selection-answer.ts";
import { openSessionState, sessionDetail, sessionsPage } from "./sessions.ts";
import { stateAnswer } from "./state-row.ts";
import { stepsPage } from "./steps.ts";
import { transcriptAnswer } from "./transcript-answer.ts";

type QueryTable = {
  readonly [T in Query["type"]]: (
    deps: QueryDeps,
    query: Extract<Query, { readonly type: T }>,
  ) => Promise<Result<QueryAnswers[T]>>;
};

/** Answers each type of query. */
export const queryTable: QueryTable = {
  sessions: (deps, { limit, before }) =>
    sessionsPage(deps, before === undefined ? { limit } : { limit, before }),
  session: async (deps, { session }) => {
    const state = await openSessionState(deps, session);
    return state.ok ? await sessionDetail(deps, state.value) : state;
  },
  state: async (deps, query) => {
    const moment = await openMoment(deps, query.session, query.at);
    return moment.ok ? await stateAnswer(deps, moment.value, query) : moment;
  },
  block: async (deps, query) => {
    const moment = await openMoment(deps, query.session, query.at);
    return moment.ok ? await blockDetail(deps.store, moment.value, query) : moment;
  },
  previews: async (deps, { session, block }) => {
    const state = await openSessionState(deps, session);
    return state.ok ? await previewsAnswer(deps.store, now(state.value), block) : state;
  },
  transcript: async (deps, { session, at, stream }) => {
    const moment = await openMoment(deps, session, at);
    return moment.ok ? await transcriptAnswer(deps.store, moment.value, stream) : moment;
  },
  labels: async (deps, { session, blocks }) => {
    const state = await openSessionState(deps, session);
    return state.ok ? await labelsAnswer(deps.store, now(state.value), blocks) : state;
  },
  requests: async (deps, { session, after, limit }) => {
    const state = await openSessionState(deps, session);
    const { store } = deps;
    return state.ok ? await requestsPage({ state: state.value, store }, { after, limit }) : state;
  },
  request: async (deps, { session, exchange }) => {
    const state = await openSessionState(deps, session);
    return state.ok ? await requestDetail({ state: state.value, store: deps.store }, exchange) : state;
  },
  diff: async (deps, { session, ...selector }) => {
    const state = await openSessionState(deps, session);
    return state.ok ? await requestDiff({ state: state.value, store: deps.store }, selector) : state;
  },
  body: async (deps, { session, exchange, side }) => {
    const state = await openSessionState(deps, session);
    const { store } = deps;
    return state.ok ? await bodyAnswer({ state: state.value, store }, { exchange, side }) : state;
  },
  "sent-bodies": async (deps, { session, exchange }) => {
    const state = await openSessionState(deps, session);
    return state.ok ? await sentBodies({ state: state.value, store: deps.store }, exchange) : state;
  },
  frames: async (deps, { session, after, limit }) => {
    const state = await openSessionState(deps, session);
    return state.ok ? await framesPage(deps, state.value, { after, limit }) : state;
  },
  steps: async (deps, { session, limit, below }) => {
    const state = await openSessionState(deps, session);
    const { store } = deps;
    const span = below === undefined ? { limit } : { limit, below };
    return state.ok ? await stepsPage({ state: state.value, store }, span) : state;
  },
  selection: async (deps, { session, stream }) => {
    const state = await openSessionState(deps, session);
    return state.ok ? await selectionAnswer(deps, state.value, stream) : state;
  },
  manifest: async (deps, query) => {
    const state = await openSessionState(deps, query.session);
    return state.ok ? await manifestAnswer(deps, state.value, query) : state;
  },
  expansion: async (deps, query) => {
    const state = await openSessionState(deps, query.session);
    return state.ok ? await expansionAnswer(deps.store, now(state.value), query) : state;
  },
};

async function openMoment(deps: QueryDeps, session: string, at: number | undefined) {
  const state = await openSessionState(deps, session);
  if (!state.ok) return state;
  return at === undefined ? ok(now(state.value)) : momentAt(state.value, at);
}

async function framesPage({ store }: QueryDeps, state: State, span: PageSpan): Promise<Result<FramesPage>> {
  const { session, seq } = state;
  if (!isCount(span.after)) return fail("AP_QUERY_INVALID", { problem: "after must be a seq" });
  const limit = Math.min(Math.max(span.limit, 1), limits.rowsPerAnswerMax);
  const frames = await store.frames({ session, after: span.after, limit });
  if (!frames.ok) return frames;
  const last = frames.value.length === limit ? (frames.value.at(-1)?.seq ?? seq) : seq;
  return ok({ session, seq, frames: frames.value, next: last < seq ? last : null });
}
