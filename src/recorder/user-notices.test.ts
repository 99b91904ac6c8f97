import { describe, expect, it } from "vitest";
import { sessionId } from "../base/index.ts";
import { RawHistoryWatch } from "./user-notices.ts";

const usage = { input: 1_000, cacheRead: 98_000, cacheWrite: 1_000, output: 50 };
const inputFor = (streamKey: string, length = 200_000) => ({
  session: sessionId("s"),
  copy: { length, sent: { ...report, streamKey, length: 100_000 } },
  answer: { usage },
  window: 200_000,
});
const report = {
  rendering: "managed",
  generatedName: null,
  wishesSeq: 0,
  leaf: "",
  fresh: [],
  aliases: [],
  isTurn: true,
  body: [],
  epoch: null,
} as const;

describe("a client's own history", () => {
  it("is reported once per stream when it nearly fills the window", () => {
    const watch = new RawHistoryWatch();
    expect(watch.notice(inputFor("a"))).toMatchObject({
      type: "notice",
      code: "AP_RAW_FULL",
      message: expect.stringContaining("about 200000 of 200000 tokens"),
    });
    expect(watch.notice(inputFor("a"))).toBeNull();
    expect(watch.notice(inputFor("b"))).not.toBeNull();
  });

  it("is not reported while it fits, if it is sent unchanged, or without usage", () => {
    const watch = new RawHistoryWatch();
    expect(watch.notice({ ...inputFor("a"), window: 1_000_000 })).toBeNull();
    expect(watch.notice({ ...inputFor("a", 100_000), window: 100_000 })).toBeNull();
    expect(watch.notice({ ...inputFor("a"), answer: { usage: null } })).toBeNull();
  });
});
