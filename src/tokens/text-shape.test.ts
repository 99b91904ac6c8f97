import { expect, test } from "vitest";
import { type Feature, textShapeOf } from "./text-shape.ts";

/** The counts that are not zero. */
function countsOf(text: string): Partial<Record<Feature, number>> {
  return Object.fromEntries(Object.entries(textShapeOf(text)).filter(([, count]) => count > 0));
}

test("a name in camel case counts as several words", () => {
  expect(countsOf("getUserName")).toEqual({ words: 3 });
  expect(countsOf("HTTP request42")).toEqual({ words: 2, longLetters: 2, digitGroups: 1, digits: 2 });
});

test("base64 and hashes are noise, long names and paths are not", () => {
  expect(countsOf("aGVsbG8gd29ybGQ+Zm9v/YmFyQmF6UXV4MTIz")).toEqual({ noise: 37 });
  expect(countsOf("9f86d081884c7d659a2feaa0c55ad015")).toEqual({ noise: 32 });
  expect(countsOf("calculateTotalInvoiceAmountForCustomer")["noise"]).toBeUndefined();
  expect(countsOf("source/session/ledger/admission")["noise"]).toBeUndefined();
});

test("white space counts only if it is more than one blank", () => {
  expect(countsOf("a b")).toEqual({ words: 2 });
  expect(countsOf("a\n        b")).toEqual({ words: 2, breaks: 1 + 1 / 16, blankRuns: 1 + 8 / 64 });
});

test("every script has its count, and a drawn line counts little", () => {
  expect(countsOf("東京タワー한국")).toEqual({ cjk: 7 });
  expect(countsOf("Привет é")).toEqual({ foreign: 7 });
  expect(countsOf("─────────")).toEqual({ symbols: 2 });
  expect(countsOf("-----")).toEqual({ signRuns: 1, moreSigns: 0.5 });
});
