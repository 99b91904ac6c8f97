import { fail, isCount, limits, ok, type Result } from "../../base/index.ts";
import { now, type State, stateAt } from "../../engine/index.ts";
import { decide } from "../command/decide.ts";
import { approvalsPage } from "../command/decide-list.ts";
import { noPermissions } from "../command/kept-permissions.ts";
import { commandAnswer } from "../command/user-command.ts";
import { modeAnswer, setSessionMode } from "../command/user-mode.ts";
import { importSession } from "../imported/import-session.ts";
import { blockDetail } from "./block-detail.ts";
import type { PermissionRow, PermissionsAnswer } from "./command-rows.ts";
import { deleteSession } from "./delete-session.ts";
import { expansionAnswer } from "./expansion.ts";
import { labelsAnswer } from "./labels.ts";
import { manifestAnswer } from "./manifest.ts";
import { previewsAnswer } from "./previews.ts";
import type { AnswerOf, Answers, Library, Question, QuestionType } from "./questions.ts";
import { renameSession } from "./rename.ts";
import { requestDiff } from "./request-diff.ts";
import { bodyAnswer, requestDetail, requestsPage, type Span } from "./requests.ts";
import type { FramesPage, SessionDetail } from "./rows.ts";
import { selectBlocks, selectionAnswer } from "./selection.ts";
import { sentBodies } from "./sent-bodies.ts";
import { openState, rowAt, sessionsPage } from "./sessions.ts";
import { stateAnswer } from "./state-answer.ts";
import { reverseStep, stepsPage } from "./steps.ts";
import { streamDetails } from "./stream-detail.ts";
import { transcriptAnswer } from "./transcript.ts";

/**
 * The one door to everything that is recorded. It reads: what a user does goes through it too, but only the
 * library carries that out. It never rejects: a mistake of ours in making a row must not end the thread that
 * records.
 */
export async function answerQuestion<Q extends Question>(
  library: Library,
  question: Q,
): Promise<Result<AnswerOf<Q>>> {
  // The table answers each type with what the type is answered with, which the compiler cannot follow.
  const answer = answered[question.type] as (library: Library, question: Q) => Promise<Result<AnswerOf<Q>>>;
  try {
    return await answer(library, question);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return fail("AP_CONTROL_FAULT", { problem, question: question.type });
  }
}

type Asked<T extends QuestionType> = Extract<Question, { readonly type: T }>;
type Answered = {
  readonly [T in QuestionType]: (library: Library, question: Asked<T>) => Promise<Result<Answers[T]>>;
};

const answered: Answered = {
  sessions: (library, { limit, before }) =>
    sessionsPage(library, before === undefined ? { limit } : { limit, before }),
  session: async (library, { session }) => {
    const state = await openState(library, session);
    return state.ok ? sessionDetail(library, state.value) : state;
  },
  state: async (library, question) => {
    const moment = await openMoment(library, question.session, question.at);
    return moment.ok ? await stateAnswer(library, moment.value, question) : moment;
  },
  block: async (library, question) => {
    const moment = await openMoment(library, question.session, question.at);
    return moment.ok ? blockDetail(library.store, moment.value, question) : moment;
  },
  requests: async (library, { session, after, limit }) => {
    const state = await openState(library, session);
    const { store } = library;
    return state.ok ? requestsPage({ state: state.value, store }, { after, limit }) : state;
  },
  request: async (library, { session, exchange }) => {
    const state = await openState(library, session);
    return state.ok ? requestDetail({ state: state.value, store: library.store }, exchange) : state;
  },
  diff: async (library, { session, ...wish }) => {
    const state = await openState(library, session);
    return state.ok ? requestDiff({ state: state.value, store: library.store }, wish) : state;
  },
  body: async (library, { session, exchange, side }) => {
    const state = await openState(library, session);
    const { store } = library;
    return state.ok ? bodyAnswer({ state: state.value, store }, { exchange, side }) : state;
  },
  "sent-bodies": async (library, { session, exchange }) => {
    const state = await openState(library, session);
    return state.ok ? sentBodies({ state: state.value, store: library.store }, exchange) : state;
  },
  frames: async (library, { session, after, limit }) => {
    const state = await openState(library, session);
    return state.ok ? framesPage(library, state.value, { after, limit }) : state;
  },
  steps: async (library, { session, limit, below }) => {
    const state = await openState(library, session);
    const { store } = library;
    const span = below === undefined ? { limit } : { limit, below };
    return state.ok ? stepsPage({ state: state.value, store }, span) : state;
  },
  reverse: (library, act) => reverseStep(library, act),
  selection: async (library, { session, stream }) => {
    const state = await openState(library, session);
    return state.ok ? selectionAnswer(library, state.value, stream) : state;
  },
  select: (library, act) => selectBlocks(library, act),
  command: (library, act) => library.command(act),
  manifest: async (library, question) => {
    const state = await openState(library, question.session);
    return state.ok ? manifestAnswer(library, state.value, question) : state;
  },
  expansion: async (library, question) => {
    const state = await openState(library, question.session);
    return state.ok ? expansionAnswer(library.store, now(state.value), question) : state;
  },
  labels: async (library, { session, blocks }) => {
    const state = await openState(library, session);
    return state.ok ? labelsAnswer(library.store, now(state.value), blocks) : state;
  },
  transcript: async (library, { session, at, stream }) => {
    const moment = await openMoment(library, session, at);
    return moment.ok ? transcriptAnswer(library.store, moment.value, stream) : moment;
  },
  previews: async (library, { session, block }) => {
    const state = await openState(library, session);
    return state.ok ? previewsAnswer(library.store, now(state.value), block) : state;
  },
  ledger: (library, question) => library.ledger(question),
  act: (library, question) => commandAnswer(library, question),
  approvals: (library, question) => approvalsPage(library, question),
  decide: (library, act) => decide(library, act),
  mode: (library, { session }) => modeAnswer(library, session),
  "set-mode": (library, act) => setSessionMode(library, act),
  rename: (library, act) => renameSession(library, act),
  "delete-session": (library, act) => deleteSession(library, act),
  permissions: async ({ permissions = noPermissions }) => rowsIn(permissions.list()),
  "set-permission": async ({ permissions = noPermissions }, { verb, zone, rule }) =>
    rowsIn(permissions.set({ key: { actor: "model", verb, zone }, rule })),
  verify: ({ store }, { scope }) => store.verify(scope),
  gc: async ({ store }) => {
    // A content that waits to be written is named by nothing on disk yet.
    await store.flush();
    return await store.gc();
  },
  import: (library, { bytes }) => importSession(library, bytes),
  backup: async ({ store }, { path }) => {
    await store.flush();
    return await store.backup(path);
  },
};

function rowsIn(rows: Result<readonly PermissionRow[]>): Result<PermissionsAnswer> {
  return rows.ok ? ok({ rows: rows.value }) : rows;
}

async function openMoment(library: Library, session: string, at: number | undefined) {
  const state = await openState(library, session);
  if (!state.ok) return state;
  return at === undefined ? ok(now(state.value)) : stateAt(state.value, at);
}

async function sessionDetail(library: Library, state: State): Promise<Result<SessionDetail>> {
  const row = await rowAt(library, state);
  if (!row.ok) return row;
  return ok({ seq: state.seq, session: row.value, streams: await streamDetails(library, now(state)) });
}

async function framesPage(library: Library, state: State, span: Span): Promise<Result<FramesPage>> {
  const { session, seq } = state;
  if (!isCount(span.after)) return fail("AP_QUERY_INVALID", { problem: "after must be a seq" });
  const limit = Math.min(Math.max(span.limit, 1), limits.rowsPerAnswerMax);
  const frames = await library.store.frames({ session, after: span.after, limit });
  if (!frames.ok) return frames;
  const last = frames.value.length === limit ? (frames.value.at(-1)?.seq ?? seq) : seq;
  return ok({ session, seq, frames: frames.value, next: last < seq ? last : null });
}
