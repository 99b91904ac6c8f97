import { ok, unwrap } from "../../src/base/index.ts";
import type { ActDeps } from "../../src/execute/acts.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import type { Question } from "../../src/host/index.ts";
import type { AnswerOf } from "../../src/host/questions.ts";
import { openSession } from "../../src/log/index.ts";
import { openMemoryStore, type Store } from "../../src/store/index.ts";
import { actOn, recorderOn, reverseOn } from "./act-on-log.ts";
import { ObservedSession } from "./observed-session.ts";
import { steppedClock } from "./stepped-clock.ts";

export const clock = steppedClock(1_700_000_000_000);

/** A store with one watched session, and the library over it. */
export type ReadScene = {
  readonly store: Store;
  readonly watched: ObservedSession;
  readonly library: ActDeps;
  /** Fails the test if the question is refused. */
  readonly ask: <Q extends Question>(question: Q) => Promise<AnswerOf<Q>>;
};

export async function scene(name = "s1", store: Store = openMemoryStore()): Promise<ReadScene> {
  const watched = await ObservedSession.open(store, name, clock);
  const library: ActDeps = {
    store,
    openLog: (session) => openSession({ store, session, clock }),
    windowOf: (model) => (model === null ? 100 : 2_000),
    streamRecord: () => Promise.resolve(ok(null)),
    executeCalls: () => Promise.resolve(ok([])),
    inSession: (session, work) => recorderOn(store, clock).inSession(session, work),
    act: (_, stream, propose) => actOn(watched.log, stream, propose),
    reverseStep: (_, verb, step) => reverseOn(watched.log, verb, step),
  };
  return {
    store,
    watched,
    library,
    ask: async (question) => unwrap(await answerQuestion(library, question)),
  };
}

export const first = { user: "Fix the login page, please", answer: "I will look at it." };
export const second = { user: "And the tests", answer: "Done." };
