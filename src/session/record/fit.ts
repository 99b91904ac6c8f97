import { sharedKeys } from "./align.ts";

export type Fitting = {
  /** What a request says, and what the last turn of a session said. */
  readonly talk: readonly string[];
  readonly last: readonly string[];
  /** Whether that turn has a whole answer. */
  readonly isAnswered: boolean;
  readonly knows: (key: string) => boolean;
  /** Whether it is enough that an earlier answer is repeated: a client may write the last another way. */
  readonly isLoose?: boolean;
};

/**
 * Whether a request goes on with a session, and how well, where the client names none. Two talks may begin
 * alike; what the model answered tells them apart. The same beginning after a whole answer is a new talk, not
 * the old one: nobody asks a settled question again in order to have it heard once.
 */
export function fitOf({ talk, last, isAnswered, knows, isLoose = false }: Fitting): number | null {
  const shared = sharedKeys(talk, last);
  if (shared === 0) return null;
  const repeated = talk.slice(0, shared).some(isAnswer) ? shared : null;
  if (shared < last.length) return repeated;
  const next = talk[shared];
  if (next === undefined) return isAnswered && !talk.some(isAnswer) ? null : shared;
  // What follows must be the answer, if we have it; one that was never recorded may follow all the same.
  if (knows(next)) return shared + 1;
  return isAnswer(next) && !isAnswered ? shared : isLoose ? repeated : null;
}

/**
 * How much of what nobody but a model makes up is known here: a client may write every answer another way,
 * and lacks what was hidden from it.
 */
export function fitOfIds({ talk, knows }: Pick<Fitting, "talk" | "knows">): number | null {
  const count = talk.filter((key) => isMadeUp(key) && knows(key)).length;
  return count === 0 ? null : count;
}

/** The same for a last turn of which nobody knows what reasoning the client had in it. */
export function fitWithoutReasoning(fitting: Fitting): number | null {
  const talk = fitting.talk.filter(isNoReasoning);
  const fit = fitOf({ ...fitting, talk, last: fitting.last.filter(isNoReasoning) });
  return fit === null ? null : fit + fitting.talk.length - talk.length;
}

function isNoReasoning(key: string): boolean {
  return !key.startsWith("sign:");
}

/** Keys of what the model says are made from its ids, its signatures or its role. */
export function isAnswer(key: string): boolean {
  return /^(?:call|sign|assistant):/.test(key);
}

/** Ids of calls, and signatures: no two answers have the same. */
function isMadeUp(key: string): boolean {
  return /^(?:call|sign):/.test(key);
}
