import { describe, expect, test } from "vitest";
import { messageTokens } from "../../src/analysis/play/message-tokens.ts";
import { predict, promptTokensOf } from "../../src/tokens/calibrate.ts";
import { profileOf } from "../../src/tokens/family.ts";
import { noCalibration, observe } from "../../src/tokens/index.ts";
import { recordingStreams } from "../../src/transcripts/index.ts";
import { type Recording, readRecording, recordingNames } from "../support/recordings.ts";
import { replay, type SizeOf, unitsTokens } from "./replay.ts";

/** The predicted and reported tokens of a prompt, and those reported for the prompt before it. */
type Sample = {
  readonly family: string;
  readonly predicted: number;
  readonly reported: number;
  readonly before: number;
};

/** The first prompts of a stream only teach the rate. */
const learningPrompts = 3;
const limits = { median: 0.03, p95: 0.08 } as const;

describe.each<readonly [string, SizeOf]>([
  ["by the parts of their messages", messageTokens],
  ["by the bytes of their units, as the recorder does", unitsTokens],
])("prompts of recorded sessions are predicted before their usage is known, %s", (_, sizeOf) => {
  const samples = recordingNames().flatMap((name) => samplesOf(readRecording(name), sizeOf));

  test("within 3 % at the median and 8 % for nineteen of twenty prompts", () => {
    console.log([...figuresPerFamily(samples)].join("\n"));
    expect(samples.length).toBeGreaterThan(0);
    expect(quantile(errorsOf(samples), 0.5)).toBeLessThanOrEqual(limits.median);
    expect(quantile(errorsOf(samples), 0.95)).toBeLessThanOrEqual(limits.p95);
  });

  test("with less than half the error of predicting the previous count", () => {
    const stale = samples.map((sample) => ({ ...sample, predicted: sample.before }));
    for (const part of [0.5, 0.95]) {
      const [ours, theirs] = [quantile(errorsOf(samples), part), quantile(errorsOf(stale), part)];
      expect(ours).toBeLessThan(theirs / 2);
    }
  });
});

function samplesOf(recording: Recording, sizeOf: SizeOf): readonly Sample[] {
  return recordingStreams(recording).flatMap((turns) => {
    const samples: Sample[] = [];
    let calibration = noCalibration;
    let before = 0;
    for (const { estimate, usage } of replay(recording, turns, sizeOf)) {
      const predicted = predict(calibration, estimate);
      const reported = usage === null ? 0 : promptTokensOf(usage);
      calibration = observe(calibration, { ...estimate, usage });
      if (reported === 0) continue;
      samples.push({ family: profileOf(estimate.model).family, predicted, reported, before });
      before = reported;
    }
    return samples.slice(learningPrompts);
  });
}

function* figuresPerFamily(samples: readonly Sample[]): Generator<string> {
  yield "family    prompts  median     p95   worst | error by growth: median    p95 | unchanged: median    p95";
  for (const family of [...new Set(samples.map((sample) => sample.family)), "all"]) {
    const its = samples.filter((sample) => family === "all" || sample.family === family);
    const errors = errorsOf(its);
    const growth = its.map(({ predicted, reported, before }) =>
      share(predicted - reported, Math.max(200, Math.abs(reported - before))),
    );
    const stale = its.map(({ before, reported }) => share(before - reported, reported));
    const cells = [0.5, 0.95, 1].map((part) => percent(quantile(errors, part)));
    const [slow, fast] = [growth, stale].map((list) =>
      [0.5, 0.95].map((part) => percent(quantile(list, part))),
    );
    yield [
      family.padEnd(9),
      String(its.length).padStart(7),
      ...cells,
      "|               ",
      ...(slow ?? []),
      "|         ",
      ...(fast ?? []),
    ].join(" ");
  }
}

function errorsOf(samples: readonly Sample[]): readonly number[] {
  return samples.map(({ predicted, reported }) => share(predicted - reported, reported));
}

function share(difference: number, of: number): number {
  return Math.abs(difference) / of;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(2)}%`.padStart(7);
}
