import { expect, test } from "vitest";
import type { PricedRequest } from "../../control/index.ts";
import { cacheBreaks } from "./traffic-check.ts";

type Turn = { readonly at: number; readonly read: number; readonly write: number; readonly isOurs?: boolean };

function rows(turns: readonly Turn[]): readonly PricedRequest[] {
  return turns.map(({ at, read, write, isOurs }, index) => {
    const usage = { input: 10, cacheRead: read, cacheWrite: write, output: 5 };
    const row = { id: index + 1, role: "turn", stream: 1, model: "claude-sonnet-4-5", usage, time: at };
    const rewrite = isOurs === true ? {} : null;
    return { ...row, rewrite } as unknown as PricedRequest; // only the fields it reads
  });
}

test("a prompt that continues from the cache is no break", () => {
  const turns = [
    { at: 0, read: 0, write: 20_000 },
    { at: 1_000, read: 20_000, write: 500 },
  ];
  expect(cacheBreaks(rows(turns))).toEqual({ turns: 2, ours: 0, foreign: 0 });
});

test("a break counts for Aperture if it rewrote the prompt, else for the client", () => {
  const turns = [
    { at: 0, read: 0, write: 20_000 },
    { at: 1_000, read: 100, write: 20_000 },
    { at: 2_000, read: 0, write: 15_000, isOurs: true },
  ];
  expect(cacheBreaks(rows(turns))).toEqual({ turns: 3, ours: 1, foreign: 1 });
});

test("an expired cache, or one too small to exist, is no break", () => {
  const late = [
    { at: 0, read: 0, write: 20_000 },
    { at: 60 * 60_000 * 2, read: 0, write: 20_000 },
  ];
  expect(cacheBreaks(rows(late))).toMatchObject({ ours: 0, foreign: 0 });
  const small = [
    { at: 0, read: 0, write: 900 },
    { at: 1_000, read: 0, write: 900 },
  ];
  expect(cacheBreaks(rows(small))).toMatchObject({ ours: 0, foreign: 0 });
});
