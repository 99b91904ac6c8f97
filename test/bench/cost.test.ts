// What the benchmark of cost measures with is tested here, and that it runs.
import { expect, test } from "vitest";
import { type CacheRules, PromptCache, type PromptUnit } from "../../bench/cost/cache.ts";

const rules: CacheRules = {
  kind: "marks",
  tokensMin: 100,
  stepTokens: 1,
  marksMax: 4,
  lookBack: 20,
  lifetimeMs: 300_000,
};

/** `a b! c` are three units of 100 tokens, the second of them marked; a call is `a(`, a result `a)`. */
function prompt(text: string): readonly PromptUnit[] {
  return text.split(" ").map((word) => ({
    key: word.replace("!", ""),
    tokens: 100,
    isMarked: word.endsWith("!"),
    isUser: word.startsWith("u"),
    run: word.includes("(") ? "call" : word.includes(")") ? "result" : null,
  }));
}

/** Read, written and fresh of each prompt, a second after the one before. */
function bills(rule: Partial<CacheRules>, ...prompts: readonly (string | number)[]): readonly string[] {
  const cache = new PromptCache({ ...rules, ...rule });
  let timeMs = 0;
  const said: string[] = [];
  for (const one of prompts) {
    timeMs += typeof one === "number" ? one : 1_000;
    if (typeof one === "number") continue;
    const { read, written, fresh } = cache.send(prompt(one), timeMs);
    said.push(`${read} ${written} ${fresh}`);
  }
  return said;
}

test("what is marked is written, and read where a mark finds it again", () => {
  expect(bills({}, "s! a b! c", "s! a b d e!")).toEqual(["0 300 100", "300 200 0"]);
});

test("what was never marked is not read, however alike the prompts begin", () => {
  expect(bills({}, "a b c", "a b c d!", "a b c d e!")).toEqual(["0 0 300", "0 400 0", "400 100 0"]);
});

test("a changed beginning is written anew, up to the last mark before it was changed", () => {
  expect(bills({}, "s! a b!", "s! x b!")).toEqual(["0 300 0", "100 200 0"]);
});

test("a mark looks back twenty positions, and a run of results is one of them", () => {
  const words = (count: number, sign: string): string =>
    Array.from({ length: count }, (_, at) => `${at}${sign}`).join(" ");
  expect(bills({}, "a!", `a ${words(19, "")}!`)[1]).toBe("100 1900 0");
  expect(bills({}, "a!", `a ${words(20, "")}!`)[1]).toBe("0 2100 0");
  expect(bills({}, "a!", `a ${words(40, ")")}!`)[1]).toBe("100 4000 0");
});

test("what is not read in time is gone, and reading it gives it time", () => {
  expect(bills({}, "a!", 300_000, "a b!")[1]).toBe("0 200 0");
  expect(bills({}, "a!", 200_000, "a b!", 200_000, "a b c!")[2]).toBe("200 100 0");
});

test("a prompt too short is not cached", () => {
  expect(bills({ tokensMin: 250 }, "a b!", "a b!", "a b c!", "a b c d!")).toEqual([
    "0 0 200",
    "0 0 200",
    "0 300 0",
    "300 100 0",
  ]);
});

test("without marks the longest beginning is read, in whole steps, and nothing is paid for writing", () => {
  const prefix = { kind: "prefix", stepTokens: 128, lookBack: null } as const;
  expect(bills(prefix, "a b c", "a b c d", "a x")).toEqual(["0 0 300", "228 0 172", "100 0 100"]);
});

test("with breakpoints what the user said last is written", () => {
  const breakpoints = { kind: "breakpoints", lookBack: 80 } as const;
  expect(bills(breakpoints, "u1 t", "u1 a u2 t")).toEqual(["0 100 100", "100 200 100"]);
});

test("where nothing is cached all is fresh", () => {
  expect(bills({ kind: "none" }, "a b!", "a b!")).toEqual(["0 0 200", "0 0 200"]);
});
