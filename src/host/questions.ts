import type { Result } from "../base/index.ts";
import type { StreamLookup, StreamRecord } from "../exchange/index.ts";
import type { Act, ActAnswers, RuleQuery } from "../execute/index.ts";
import type { Query, QueryAnswers } from "../queries/index.ts";

/**
 * A query or an act of a user, for the thread that holds the sessions. Plain data, so that it can cross
 * threads.
 */
export type Question = Query | RuleQuery | Act | StreamLookup;

export type QuestionType = Question["type"];

/** The type of the answer to each type of question. */
export type QuestionAnswers = QueryAnswers &
  ActAnswers & {
    /** Null if there is no such stream. */
    readonly ledger: StreamRecord | null;
  };
export type AnswerOf<Q extends Question> = QuestionAnswers[Q["type"]];

/** Has a question answered by the thread that holds the sessions. */
export type Asker = <Q extends Question>(question: Q) => Promise<Result<AnswerOf<Q>>>;
