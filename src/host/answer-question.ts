import { fail, type Result } from "../base/index.ts";
import { type ActDeps, actTable } from "../execute/index.ts";
import { queryTable } from "../queries/index.ts";
import type { AnswerOf, Question, QuestionAnswers, QuestionType } from "./questions.ts";

/**
 * Answers every question about the recorded sessions; there is no other way to them. It only reads: acts of a
 * user come in here too, and `execute` carries them out. It never rejects: a bug in one answer must not end
 * the thread that records.
 */
export async function answerQuestion<Q extends Question>(
  deps: ActDeps,
  question: Q,
): Promise<Result<AnswerOf<Q>>> {
  // The compiler cannot see that the table pairs each type of question with its type of answer.
  const answer = answerTable[question.type] as (deps: ActDeps, question: Q) => Promise<Result<AnswerOf<Q>>>;
  try {
    return await answer(deps, question);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return fail("AP_CONTROL_FAULT", { problem, question: question.type });
  }
}

type QuestionOf<T extends QuestionType> = Extract<Question, { readonly type: T }>;
type AnswerTable = {
  readonly [T in QuestionType]: (
    deps: ActDeps,
    question: QuestionOf<T>,
  ) => Promise<Result<QuestionAnswers[T]>>;
};

const answerTable: AnswerTable = {
  ...queryTable,
  ...actTable,
  ledger: (deps, lookup) => deps.streamRecord(lookup),
};
