import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { ApertureError, ErrorCode, Result } from "../../src/base/index.ts";
import type { Delta } from "../../src/engine/frames/index.ts";
import type { State } from "../../src/engine/index.ts";
import { dump, TestSession } from "./engine.ts";
import type { FrameEntry } from "./random-session.ts";

/** A frame that must be refused: what is wrong with it, by which name, and how to come to it. */
export type Refusal = {
  readonly when: string;
  readonly code: ErrorCode;
  readonly problem?: string;
  readonly deltas: (session: TestSession) => readonly Delta[];
  readonly over?: Partial<FrameEntry>;
};

/** Tries the frame. Whatever comes of it, the state it was tried on must be as before, to the last table. */
export function refused({ deltas, over }: Omit<Refusal, "when" | "code">): ApertureError | null {
  const session = new TestSession();
  const wanted = deltas(session);
  const before = dump(session.state);
  const result: Result<State> = session.attempt(wanted, over);
  expect(dump(session.state)).toEqual(before);
  return result.ok ? null : result.error;
}

/** The error is the one that was meant, and its sentence is whole. */
export function expectRefusal(refusal: Refusal): void {
  const error = refused(refusal);
  expect(error?.code).toBe(refusal.code);
  expect(error?.message).not.toMatch(/[{}?]|undefined|NaN/);
  if (refusal.problem !== undefined) expect(error?.details["problem"]).toBe(refusal.problem);
}

/** For `it.each`: each with its name. */
export function named(refusals: readonly Refusal[]): readonly (readonly [string, Refusal])[] {
  return refusals.map((refusal) => [`${refusal.code} when ${refusal.when}`, refusal]);
}

/** Every refusal the source can make has its row: a new one without a test fails here. */
export function expectComplete(source: string, refusals: readonly Refusal[]): void {
  const text = readFileSync(new URL(`../../src/engine/${source}`, import.meta.url), "utf8");
  const codes = [...text.matchAll(/fail\(\s*"(AP_\w+)"/g)].map(([, code]) => code);
  expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(codes));
  const problems = [...text.matchAll(/(?:refused\(|problem:)\s*(?:"([^"]+)"|`([^`$]+))/g)];
  const tried = refusals.map(({ problem = "" }) => problem);
  for (const [, whole, start] of problems) {
    const isTried = tried.some((problem) =>
      whole === undefined ? problem.startsWith(start ?? "") : problem === whole,
    );
    expect(isTried, `a test for: ${whole ?? start}`).toBe(true);
  }
}
