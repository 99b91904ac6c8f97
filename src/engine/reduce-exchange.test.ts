import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../test/support/delta-examples.ts";
import { main, TestSession } from "../../test/support/engine.ts";
import { must, streamId, unwrap } from "../base/index.ts";
import type { Exchange, ExchangeEnd } from "./frames/exchange.ts";
import { exchangeOf, exchangesOf, momentAt, now } from "./moment/moment.ts";

const { exchange: example } = deltaExamples["exchange-opened"];
const { end: ended } = deltaExamples["exchange-closed"];

function opened(over: Partial<Exchange> = {}): Exchange {
  return { ...example, id: 1, of: null, stream: main, ...over };
}
function closed(over: Partial<ExchangeEnd> = {}): ExchangeEnd {
  return { ...ended, exchange: 1, ...over };
}
const open = (exchange: Exchange) => ({ type: "exchange-opened", exchange }) as const;
const close = (end: ExchangeEnd) => ({ type: "exchange-closed", end }) as const;

describe("exchanges", () => {
  it("have the form in which they were sent on; in older frames that is raw", () => {
    const session = new TestSession();
    const { rendering: _, ...older } = opened({ id: 2 });
    session.append([open(opened({ rendering: "plain" })), open(older)]);
    expect(exchangesOf(now(session.state)).map(({ rendering }) => rendering)).toEqual(["plain", "raw"]);
  });

  it("are numbered from 1 without gaps", () => {
    const session = new TestSession();
    expect(session.attempt([open(opened({ id: 2 }))])).toMatchObject({
      error: { code: "AP_EXCHANGE_INVALID" },
    });
    session.append([open(opened())]);
    expect(session.attempt([open(opened())]).ok).toBe(false);
    session.append([open(opened({ id: 2, of: 1 }))]);
    expect(exchangesOf(now(session.state)).map(({ id }) => id)).toEqual([1, 2]);
  });

  it("refer to earlier ones and to streams that are open", () => {
    const session = new TestSession();
    expect(session.attempt([open(opened({ of: 1 }))]).ok).toBe(false);
    const elsewhere = session.attempt([open(opened({ stream: streamId(77) }))]);
    expect(elsewhere).toMatchObject({ error: { code: "AP_STREAM_UNKNOWN" } });
    expect(session.attempt([open(opened({ stream: null }))]).ok).toBe(true);
  });

  it("end once, after they began", () => {
    const session = new TestSession();
    expect(session.attempt([close(closed())]).ok).toBe(false);
    session.append([open(opened())]);
    session.append([close(closed())]);
    expect(session.attempt([close(closed())])).toMatchObject({ error: { code: "AP_EXCHANGE_INVALID" } });
  });

  it("are open at a moment before they ended, and unknown before they began", () => {
    const session = new TestSession();
    const before = session.state.seq;
    const begun = session.append([open(opened())]);
    session.append([close(closed({ outcome: "truncated" }))]);
    const at = (seq: number) => exchangeOf(unwrap(momentAt(session.state, seq)), 1);
    expect(at(before)).toBeNull();
    expect(must(at(begun), "it was open").end).toBeNull();
    expect(exchangeOf(now(session.state), 1)?.end?.outcome).toBe("truncated");
  });
});

describe("identity", () => {
  it("is recorded once", () => {
    const session = new TestSession();
    session.append([deltaExamples["session-identified"]]);
    expect(session.state.identity?.client).toBe("claude-code");
    expect(session.attempt([deltaExamples["session-identified"]])).toMatchObject({
      error: { code: "AP_SESSION_IDENTIFIED" },
    });
  });
});
