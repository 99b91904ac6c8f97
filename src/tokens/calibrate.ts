import type { Usage } from "../engine/index.ts";
import { type AnswerErrors, answerTokens, noAnswerErrors, withAnswer } from "./answer.ts";

/**
 * How a prompt is made up, in estimated tokens: first what it shares with the prompt before, then the model's
 * last answer if the client repeats it, then what is new.
 */
export type Asked = {
  readonly model: string;
  readonly prompt: number;
  readonly kept: number;
  readonly answer: number;
};

/** A prompt that was answered, and what the provider reported; null where it reported nothing. */
export type Seen = Asked & { readonly usage: Usage | null };

/**
 * What a session has taught about the counts of its models. Plain data: it may be stored as JSON. One belongs
 * to one stream; a new stream begins with `freshLine` of the calibration of its parent.
 */
export type Calibration = {
  readonly rates: Readonly<Record<string, Rate>>;
  readonly line: Line | null;
};

/** Reported per estimated tokens, as two sums, so that large texts count for more than small ones. */
export type Rate = { readonly reported: number; readonly estimated: number; readonly errors: AnswerErrors };

/** The stream's present history: how far it reaches, by estimate and by report, at each prompt along it. */
export type Line = {
  readonly model: string;
  readonly marks: readonly Mark[];
  /** Output reported for the last answer; null if none was. */
  readonly output: number | null;
  /** Tokens of the latest prompts, oldest first: how fast the line grows. */
  readonly recent: readonly number[];
};

export type Mark = { readonly estimated: number; readonly reported: number };

export const noCalibration: Calibration = { rates: {}, line: null };

/** So many estimated tokens are needed to outweigh the start value, and so many are remembered at most. */
const trustedFromStart = 2_000;
const remembered = 30_000;
/** One observation moves the rate no further than this factor, however odd it is. */
const surprise = 1.5;
/** Less new text than this says more about overheads than about the rate. */
const tellingMin = 100;
/** Clients name their models as they like; those used last are remembered. */
const modelsMax = 16;
const marksMax = 64;
const recentMax = 13;
/** Estimates are sums of the same terms in another order: equal ones may differ by this. */
const slack = 0.5;

const startRate: Rate = { reported: trustedFromStart, estimated: trustedFromStart, errors: noAnswerErrors };

/** Tokens the provider will report for the prompt. */
export function predict(calibration: Calibration, request: Asked): number {
  const { line } = calibration;
  const asked = sound(request);
  const rate = rateOf(calibration, asked.model);
  if (line === null) return whole(asked.prompt * perEstimate(rate));
  if (line.model !== asked.model) return whole(afterChange(calibration, asked));
  const repeated = answerTokens(rate.errors, answerSources(line, asked, perEstimate(rate)));
  return whole(reportedAt(line, asked.kept, perEstimate(rate)) + newIn(asked) * perEstimate(rate) + repeated);
}

/** Takes in what was reported. Without a usage only the history moves. */
export function observe(calibration: Calibration, response: Seen): Calibration {
  const seen = { ...sound(response), usage: response.usage };
  const reported = seen.usage === null ? 0 : promptOf(seen.usage);
  const rates = reported > 0 ? withRate(calibration, seen, reported) : calibration.rates;
  return { rates, line: nextLine(calibration, seen, reported) };
}

/** For a stream of its own in the same session: what is known of models stays, the history does not. */
export function freshLine(calibration: Calibration): Calibration {
  return { ...calibration, line: null };
}

/** Reported for each estimated token of a model. */
export function rateFor(calibration: Calibration, model: string): number {
  return perEstimate(rateOf(calibration, model));
}

/** Everything that was read, from the cache or not. */
export function promptOf(usage: Usage): number {
  return countOr0(usage.input + usage.cacheRead + usage.cacheWrite);
}

/** Counts, whatever came in: one bad number must not spoil what was learnt before. */
function sound({ model, prompt, kept, answer }: Asked): Asked {
  return { model, prompt: countOr0(prompt), kept: countOr0(kept), answer: countOr0(answer) };
}

function countOr0(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

function rateOf(calibration: Calibration, model: string): Rate {
  // Models have names like any other text: own properties only.
  return Object.hasOwn(calibration.rates, model) ? (calibration.rates[model] ?? startRate) : startRate;
}

function perEstimate({ reported, estimated }: Rate): number {
  return reported / estimated;
}

function newIn({ prompt, kept, answer }: Asked): number {
  return Math.max(0, prompt - kept - answer);
}

function whole(tokens: number): number {
  return Math.round(countOr0(tokens));
}

/** What the first `kept` estimated tokens of the line came to: from the nearest mark before, or the first. */
function reportedAt({ marks }: Line, kept: number, rate: number): number {
  const mark = marks.findLast(({ estimated }) => estimated <= kept + slack) ?? marks[0];
  if (mark === undefined) return kept * rate;
  return Math.max(0, mark.reported + (kept - mark.estimated) * rate);
}

/** The answer was reported when it was given, and can be estimated now. Neither is always right. */
function answerSources(line: Line, { answer }: Asked, rate: number) {
  return { reported: answer > 0 ? (line.output ?? 0) : 0, estimated: answer * rate };
}

/** What no estimate knows of, such as reasoning kept back, stays as it was; the rest is counted anew. */
function afterChange(calibration: Calibration, asked: Asked): number {
  const { line } = calibration;
  const last = line?.marks.at(-1);
  const counted = asked.prompt * perEstimate(rateOf(calibration, asked.model));
  if (line === null || last === undefined || asked.kept <= 0) return counted;
  const before = perEstimate(rateOf(calibration, line.model));
  return counted + Math.max(0, last.reported - last.estimated * before);
}

function withRate(calibration: Calibration, seen: Seen, reported: number): Calibration["rates"] {
  const { line } = calibration;
  const rate = rateOf(calibration, seen.model);
  const next = line?.model === seen.model ? learnt(rate, line, { seen, reported }) : rate;
  const others = Object.entries(calibration.rates).filter(([model]) => model !== seen.model);
  return Object.fromEntries([...others.slice(1 - modelsMax), [seen.model, next]]);
}

type Report = { readonly seen: Seen; readonly reported: number };

/** Only what was appended teaches: behind a cut, too much is unknown. */
function learnt(rate: Rate, line: Line, { seen, reported }: Report): Rate {
  const last = line.marks.at(-1);
  if (last === undefined || Math.abs(last.estimated - seen.kept) > slack) return rate;
  const now = perEstimate(rate);
  const grown = reported - last.reported;
  const sources = answerSources(line, seen, now);
  const added = newIn(seen);
  const errors = seen.answer > 0 ? withAnswer(rate.errors, sources, grown - added * now) : rate.errors;
  const repeated = answerTokens(rate.errors, sources);
  // Where the answer outweighs what is new, its error would be learnt as the error of the rate.
  if (added < tellingMin || added * now < repeated) return { ...rate, errors };
  const measured = (grown - repeated) / added;
  const believed = Math.min(now * surprise, Math.max(now / surprise, measured));
  return { ...weighed(rate, { reported: believed * added, estimated: added }), errors };
}

/** What was learnt long ago fades, so that the rate follows a session that turns from prose to code. */
function weighed(rate: Rate, more: Omit<Rate, "errors">): Omit<Rate, "errors"> {
  const estimated = rate.estimated + more.estimated;
  const fade = Math.min(1, remembered / estimated);
  return { reported: (rate.reported + more.reported) * fade, estimated: estimated * fade };
}

function nextLine(calibration: Calibration, seen: Seen, reported: number): Line | null {
  const line = calibration.line?.model === seen.model ? calibration.line : null;
  const kept = line === null ? [] : line.marks.filter(({ estimated }) => estimated <= seen.kept + slack);
  if (reported <= 0) return line === null ? null : silentLine(calibration, line, { seen, kept });
  return {
    model: seen.model,
    marks: thinned([...kept, { estimated: seen.prompt, reported }]),
    output: countOr0(seen.usage?.output ?? 0),
    recent: [...(calibration.line?.recent ?? []), reported].slice(-recentMax),
  };
}

type Silence = { readonly seen: Seen; readonly kept: readonly Mark[] };

/** Where a cut leaves no mark and nothing is reported, what was to be expected has to do. */
function silentLine(calibration: Calibration, line: Line, { seen, kept }: Silence): Line {
  const expected = { estimated: seen.prompt, reported: predict(calibration, seen) };
  return { ...line, marks: kept.length > 0 ? kept : [expected], output: null };
}

/** Old marks may stand further apart; the first and the latest are what is asked for. */
function thinned(marks: readonly Mark[]): readonly Mark[] {
  if (marks.length <= marksMax) return marks;
  const half = marksMax / 2;
  return [...marks.slice(0, half).filter((_, index) => index % 2 === 0), ...marks.slice(half)];
}
