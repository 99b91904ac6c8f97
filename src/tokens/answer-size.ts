/**
 * Two sizes of the model's last answer, which comes back with the next prompt: as reported in the output, and
 * as estimated. Some providers leave reasoning out of the report, others report reasoning that never comes
 * back, and a report that is read too early holds next to nothing. Which size is right is learnt per model.
 */
export type AnswerSources = { readonly reported: number; readonly estimated: number };

/** The recent error of each size, in tokens. */
export type AnswerErrors = {
  readonly reported: number;
  readonly estimated: number;
  readonly larger: number;
};

/** At first the larger size is used: too much is safer than too little. */
export const noAnswerErrors: AnswerErrors = { reported: 40, estimated: 40, larger: 0 };

const readings = ["larger", "reported", "estimated"] as const;
/** Share of the old error that stays with each answer. */
const errorMemory = 0.85;
/** Largest error that one answer may count. */
const errorMax = 1_000;

export function answerTokens(errors: AnswerErrors, sources: AnswerSources): number {
  const best = readings.reduce((one, other) => (errors[other] < errors[one] ? other : one));
  return readingOf(best, sources);
}

export function learnAnswer(errors: AnswerErrors, sources: AnswerSources, seen: number): AnswerErrors {
  const next = (reading: keyof AnswerErrors) => {
    const error = Math.min(errorMax, Math.abs(readingOf(reading, sources) - seen));
    return errors[reading] * errorMemory + error * (1 - errorMemory);
  };
  return { reported: next("reported"), estimated: next("estimated"), larger: next("larger") };
}

function readingOf(reading: keyof AnswerErrors, { reported, estimated }: AnswerSources): number {
  return reading === "larger" ? Math.max(reported, estimated) : Math.max(0, { reported, estimated }[reading]);
}
