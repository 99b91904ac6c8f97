/**
 * The model's last answer comes back with the next prompt. Its size was reported as output; it can be
 * estimated as well. Some providers leave reasoning out of the report, others report reasoning that never
 * comes back, and a report read too early holds next to nothing. Which reading is right is learnt per model.
 */
export type AnswerSources = { readonly reported: number; readonly estimated: number };

/** How far each reading was off lately, in tokens. */
export type AnswerErrors = {
  readonly reported: number;
  readonly estimated: number;
  readonly larger: number;
};

/** To start with the larger reading is believed: too much is safer than too little. */
export const noAnswerErrors: AnswerErrors = { reported: 40, estimated: 40, larger: 0 };

const readings = ["larger", "reported", "estimated"] as const;
/** Share of what was known before that stays with each answer, and the most one answer may count. */
const memory = 0.85;
const errorMax = 1_000;

export function answerTokens(errors: AnswerErrors, sources: AnswerSources): number {
  const best = readings.reduce((one, other) => (errors[other] < errors[one] ? other : one));
  return readingOf(best, sources);
}

export function withAnswer(errors: AnswerErrors, sources: AnswerSources, seen: number): AnswerErrors {
  const next = (reading: keyof AnswerErrors) => {
    const error = Math.min(errorMax, Math.abs(readingOf(reading, sources) - seen));
    return errors[reading] * memory + error * (1 - memory);
  };
  return { reported: next("reported"), estimated: next("estimated"), larger: next("larger") };
}

function readingOf(reading: keyof AnswerErrors, { reported, estimated }: AnswerSources): number {
  return reading === "larger" ? Math.max(reported, estimated) : Math.max(0, { reported, estimated }[reading]);
}
