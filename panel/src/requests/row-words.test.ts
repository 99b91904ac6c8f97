import { describe, expect, it } from "vitest";
import type { PricedRequest } from "../api/contract.ts";
import { addedText, firstChange, isTrouble, outcomeText, roleText } from "./row-words.ts";

const row = (over: Partial<PricedRequest>): PricedRequest =>
  ({ role: "turn", relation: "append", of: null, turn: 3, ...over }) as PricedRequest;

describe("a request in a row", () => {
  it("says what it is to its session", () => {
    expect(roleText(row({}))).toBe("turn 3");
    expect(roleText(row({ relation: "round", of: 7 }))).toBe("turn 3, round of 7");
    expect(roleText(row({ role: "count", relation: "none", turn: null }))).toBe("count");
  });

  it("says how it ended", () => {
    expect(outcomeText({ outcome: "complete", status: 200 })).toBe("200");
    expect(outcomeText({ outcome: "failed", status: null })).toBe("failed");
    expect(outcomeText({ outcome: "open", status: null })).toBe("open…");
    expect([200, 429].map((status) => isTrouble({ outcome: "complete", status }))).toEqual([false, true]);
  });

  it("says what it took us, and where it was written anew", () => {
    expect([addedText(null), addedText(3.14), addedText(41.7)]).toEqual(["–", "3.1 ms", "42 ms"]);
    expect(firstChange(row({ rewrite: null }))).toBeNull();
    expect(firstChange(row({ rewrite: { blocks: [27, 12] } as unknown as PricedRequest["rewrite"] }))).toBe(
      "▼ #12",
    );
  });
});
