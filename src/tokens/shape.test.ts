import { expect, test } from "vitest";
import { type Feature, shapeOf } from "./shape.ts";

/** The counts that are not zero. */
function seen(text: string): Partial<Record<Feature, number>> {
  return Object.fromEntries(Object.entries(shapeOf(text)).filter(([, count]) => count > 0));
}

test("words end where a name begins a new one", () => {
  expect(seen("getUserName")).toEqual({ words: 3 });
  expect(seen("HTTP request42")).toEqual({ words: 2, longLetters: 2, digitGroups: 1, digits: 2 });
});

test("noise is told from long names and paths", () => {
  expect(seen("aGVsbG8gd29ybGQ+Zm9v/YmFyQmF6UXV4MTIz")).toEqual({ noise: 37 });
  expect(seen("9f86d081884c7d659a2feaa0c55ad015")).toEqual({ noise: 32 });
  expect(seen("calculateTotalInvoiceAmountForCustomer")["noise"]).toBeUndefined();
  expect(seen("source/session/ledger/admission")["noise"]).toBeUndefined();
});

test("white space counts where it is more than a gap between words", () => {
  expect(seen("a b")).toEqual({ words: 2 });
  expect(seen("a\n        b")).toEqual({ words: 2, breaks: 1 + 1 / 16, blankRuns: 1 + 8 / 64 });
});

test("every script has its place, and a drawn line is short", () => {
  expect(seen("東京タワー한국")).toEqual({ cjk: 7 });
  expect(seen("Привет é")).toEqual({ foreign: 7 });
  expect(seen("─────────")).toEqual({ symbols: 2 });
  expect(seen("-----")).toEqual({ signRuns: 1, moreSigns: 0.5 });
});
