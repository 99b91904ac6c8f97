import { describe, expect, it } from "vitest";
import { sessionId } from "../../base/index.ts";
import { RawFit } from "./raw-fit.ts";

const usage = { input: 1_000, cacheRead: 98_000, cacheWrite: 1_000, output: 50 };
const sizes = (line: string, length = 200_000) => ({
  session: sessionId("s"),
  copy: { length, sent: { ...report, line, length: 100_000 } },
  answer: { usage },
  window: 200_000,
});
const report = {
  rendering: "managed",
  talkName: null,
  briefed: 0,
  leaf: "",
  fresh: [],
  copies: [],
  isTurn: true,
  body: [],
  epoch: null,
} as const;

describe("a client's own history", () => {
  it("is told of once for a stream when it nearly fills the window", () => {
    const fit = new RawFit();
    expect(fit.notice(sizes("a"))).toMatchObject({
      type: "notice",
      code: "AP_RAW_FULL",
      message: expect.stringContaining("about 200000 of 200000 tokens"),
    });
    expect(fit.notice(sizes("a"))).toBeNull();
    expect(fit.notice(sizes("b"))).not.toBeNull();
  });

  it("is not told of while it fits, where nothing is left out of it, and where nobody has counted", () => {
    const fit = new RawFit();
    expect(fit.notice({ ...sizes("a"), window: 1_000_000 })).toBeNull();
    expect(fit.notice({ ...sizes("a", 100_000), window: 100_000 })).toBeNull();
    expect(fit.notice({ ...sizes("a"), answer: { usage: null } })).toBeNull();
  });
});
