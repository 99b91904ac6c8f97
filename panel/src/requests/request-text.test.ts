import { describe, expect, it } from "vitest";
import type { PricedRequest } from "../api/contract.ts";
import { addedText, firstChange, isFailed, outcomeText, roleText } from "./request-text.ts";

const row = (over: Partial<PricedRequest>): PricedRequest =>
  ({ role: "turn", relation: "append", of: null, turn: 3, ...over }) as PricedRequest;

describe("the text of a request", () => {
  it("names its purpose", () => {
    expect(roleText(row({}))).toBe("turn 3");
    expect(roleText(row({ relation: "round", of: 7 }))).toBe("turn 3, round of request 7");
    expect(roleText(row({ role: "count", relation: "none", turn: null }))).toBe("count");
  });

  it("names its outcome", () => {
    expect(outcomeText({ outcome: "complete", status: 200 })).toBe("200");
    expect(outcomeText({ outcome: "failed", status: null })).toBe("failed");
    expect(outcomeText({ outcome: "open", status: null })).toBe("in progress");
    expect([200, 429].map((status) => isFailed({ outcome: "complete", status }))).toEqual([false, true]);
  });

  it("gives the added time and the first rewritten block", () => {
    expect([addedText(null), addedText(3.14), addedText(41.7)]).toEqual(["–", "3.1 ms", "42 ms"]);
    expect(firstChange(row({ rewrite: null }))).toBeNull();
    expect(firstChange(row({ rewrite: { blocks: [27, 12] } as unknown as PricedRequest["rewrite"] }))).toBe(
      "▼ #12",
    );
  });
});
