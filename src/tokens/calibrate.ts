import type { Usage } from "../engine/frames/index.ts";
import { type AnswerErrors, answerTokens, learnAnswer, noAnswerErrors } from "./answer-size.ts";

/**
 * A prompt in estimated tokens. `kept` is the part it shares with the prompt before, `answer` the model's
 * last answer if the client repeats it; the rest is new.
 */
export type EstimatedPrompt = {
  readonly model: string;
  readonly prompt: number;
  readonly kept: number;
  readonly answer: number;
};

/** A prompt that was answered, and the usage the provider reported. Null if it reported none. */
export type ReportedPrompt = EstimatedPrompt & { readonly usage: Usage | null };

/**
 * Rates of a session's models, learnt from reported usage. Plain data: it may be stored as JSON. Each stream
 * has its own.
 */
export type Calibration = {
  readonly rates: Readonly<Record<string, Rate>>;
  readonly history: PromptHistory | null;
};

/** Reported and estimated tokens as two sums, so that large texts count for more than small ones. */
export type Rate = { readonly reported: number; readonly estimated: number; readonly errors: AnswerErrors };

/** The prompts of the stream so far: the estimated and reported length of each. */
export type PromptHistory = {
  readonly model: string;
  readonly marks: readonly HistoryMark[];
  /** Output reported for the last answer. Null if none was reported. */
  readonly output: number | null;
  /** Tokens of the latest prompts, oldest first; they show how fast the prompt grows. */
  readonly recent: readonly number[];
};

export type HistoryMark = { readonly estimated: number; readonly reported: number };

export const noCalibration: Calibration = { rates: {}, history: null };

/** Weight of the start value, in estimated tokens. */
const startWeightTokens = 2_000;
/** Observations beyond this many estimated tokens fade. */
const rememberedTokens = 30_000;
/** One observation changes the rate by at most this factor. */
const rateChangeMax = 1.5;
/** With less new text, an observation tells more about overheads than about the rate. */
const newTokensMin = 100;
/** Clients can name any model; the rates of those used last are kept. */
const modelsMax = 16;
const marksMax = 64;
const recentMax = 13;
/** Estimates are sums in different orders, so equal ones may differ by this. */
const roundingSlack = 0.5;

const startRate: Rate = { reported: startWeightTokens, estimated: startWeightTokens, errors: noAnswerErrors };

/** Tokens the provider will report for the prompt. */
export function predict(calibration: Calibration, request: EstimatedPrompt): number {
  const { history } = calibration;
  const estimate = sanitize(request);
  const rate = rateOf(calibration, estimate.model);
  if (history === null) return roundTokens(estimate.prompt * perEstimate(rate));
  if (history.model !== estimate.model) return roundTokens(afterChange(calibration, estimate));
  const repeated = answerTokens(rate.errors, answerSources(history, estimate, perEstimate(rate)));
  return roundTokens(
    reportedAt(history, estimate.kept, perEstimate(rate)) +
      newTokens(estimate) * perEstimate(rate) +
      repeated,
  );
}

/** Learns from a reported prompt. Without usage only the history changes. */
export function observe(calibration: Calibration, response: ReportedPrompt): Calibration {
  const seen = { ...sanitize(response), usage: response.usage };
  const reported = seen.usage === null ? 0 : promptTokensOf(seen.usage);
  const rates = reported > 0 ? withRate(calibration, seen, reported) : calibration.rates;
  return { rates, history: nextHistory(calibration, seen, reported) };
}

/** Reported tokens for each estimated token of a model. */
export function rateFor(calibration: Calibration, model: string): number {
  return perEstimate(rateOf(calibration, model));
}

/** All tokens of a prompt, read from the cache or not. */
export function promptTokensOf(usage: Usage): number {
  return countOr0(usage.input + usage.cacheRead + usage.cacheWrite);
}

/** Replaces bad numbers by 0: one of them must not spoil what was learnt before. */
function sanitize({ model, prompt, kept, answer }: EstimatedPrompt): EstimatedPrompt {
  return { model, prompt: countOr0(prompt), kept: countOr0(kept), answer: countOr0(answer) };
}

function countOr0(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

function rateOf(calibration: Calibration, model: string): Rate {
  // A model may be named like a property of Object, so only own properties count.
  return Object.hasOwn(calibration.rates, model) ? (calibration.rates[model] ?? startRate) : startRate;
}

function perEstimate({ reported, estimated }: Rate): number {
  return reported / estimated;
}

function newTokens({ prompt, kept, answer }: EstimatedPrompt): number {
  return Math.max(0, prompt - kept - answer);
}

function roundTokens(tokens: number): number {
  return Math.round(countOr0(tokens));
}

/**
 * The reported length of the first `kept` estimated tokens: from the nearest mark before, or the first one.
 */
function reportedAt({ marks }: PromptHistory, kept: number, rate: number): number {
  const mark = marks.findLast(({ estimated }) => estimated <= kept + roundingSlack) ?? marks[0];
  if (mark === undefined) return kept * rate;
  return Math.max(0, mark.reported + (kept - mark.estimated) * rate);
}

/** Two sizes of the answer: as reported when it was given, and as estimated now. Neither is always right. */
function answerSources(history: PromptHistory, { answer }: EstimatedPrompt, rate: number) {
  return { reported: answer > 0 ? (history.output ?? 0) : 0, estimated: answer * rate };
}

/**
 * The prompt's tokens after a change of model. Tokens that no estimate sees, such as hidden reasoning, stay
 * as reported; the rest is estimated for the new model.
 */
function afterChange(calibration: Calibration, estimate: EstimatedPrompt): number {
  const { history } = calibration;
  const last = history?.marks.at(-1);
  const counted = estimate.prompt * perEstimate(rateOf(calibration, estimate.model));
  if (history === null || last === undefined || estimate.kept <= 0) return counted;
  const before = perEstimate(rateOf(calibration, history.model));
  return counted + Math.max(0, last.reported - last.estimated * before);
}

function withRate(calibration: Calibration, seen: ReportedPrompt, reported: number): Calibration["rates"] {
  const { history } = calibration;
  const rate = rateOf(calibration, seen.model);
  const next = history?.model === seen.model ? learnRate(rate, history, { seen, reported }) : rate;
  const others = Object.entries(calibration.rates).filter(([model]) => model !== seen.model);
  return Object.fromEntries([...others.slice(1 - modelsMax), [seen.model, next]]);
}

/** Learns only from appended text: after a cut too much is unknown. */
function learnRate(
  rate: Rate,
  history: PromptHistory,
  { seen, reported }: { readonly seen: ReportedPrompt; readonly reported: number },
): Rate {
  const last = history.marks.at(-1);
  if (last === undefined || Math.abs(last.estimated - seen.kept) > roundingSlack) return rate;
  const now = perEstimate(rate);
  const grown = reported - last.reported;
  const sources = answerSources(history, seen, now);
  const added = newTokens(seen);
  const errors = seen.answer > 0 ? learnAnswer(rate.errors, sources, grown - added * now) : rate.errors;
  const repeated = answerTokens(rate.errors, sources);
  // If the answer outweighs the new text, its error would be learnt as the error of the rate.
  if (added < newTokensMin || added * now < repeated) return { ...rate, errors };
  const measured = (grown - repeated) / added;
  const bounded = Math.min(now * rateChangeMax, Math.max(now / rateChangeMax, measured));
  return { ...addWeighted(rate, { reported: bounded * added, estimated: added }), errors };
}

/** Old observations fade, so that the rate follows a session that turns from prose to code. */
function addWeighted(rate: Rate, more: Omit<Rate, "errors">): Omit<Rate, "errors"> {
  const estimated = rate.estimated + more.estimated;
  const fade = Math.min(1, rememberedTokens / estimated);
  return { reported: (rate.reported + more.reported) * fade, estimated: estimated * fade };
}

function nextHistory(calibration: Calibration, seen: ReportedPrompt, reported: number): PromptHistory | null {
  const history = calibration.history?.model === seen.model ? calibration.history : null;
  const kept =
    history === null ? [] : history.marks.filter(({ estimated }) => estimated <= seen.kept + roundingSlack);
  if (reported <= 0) return history === null ? null : unreportedHistory(calibration, history, { seen, kept });
  return {
    model: seen.model,
    marks: thinMarks([...kept, { estimated: seen.prompt, reported }]),
    output: countOr0(seen.usage?.output ?? 0),
    recent: [...(calibration.history?.recent ?? []), reported].slice(-recentMax),
  };
}

/** The history after a prompt without usage. If a cut leaves no mark, the prediction takes its place. */
function unreportedHistory(
  calibration: Calibration,
  history: PromptHistory,
  { seen, kept }: { readonly seen: ReportedPrompt; readonly kept: readonly HistoryMark[] },
): PromptHistory {
  const expected = { estimated: seen.prompt, reported: predict(calibration, seen) };
  return { ...history, marks: kept.length > 0 ? kept : [expected], output: null };
}

/** Drops every second old mark: mostly the first and the latest are needed. */
function thinMarks(marks: readonly HistoryMark[]): readonly HistoryMark[] {
  if (marks.length <= marksMax) return marks;
  const half = marksMax / 2;
  return [...marks.slice(0, half).filter((_, index) => index % 2 === 0), ...marks.slice(half)];
}
