import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../test/support/delta-examples.ts";
import { TestSession } from "../../test/support/engine.ts";
import { AssertionFault, must, seqOf, viewId } from "../base/index.ts";
import { codecs, plain } from "./snapshot-codec.ts";
import { versionList, withVersion } from "./versions.ts";

/** As a page comes back from a disk. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function example() {
  const session = new TestSession();
  const block = session.add({ span: 3 });
  session.append([{ type: "tokens-counted", block, tokens: { count: 5, exact: false } }]);
  session.set(block, { level: "trimmed", pin: "top" });
  session.set(block, { pin: "none" }, { by: "user" });
  const step = session.take({ deltas: [] });
  return { session, block, step };
}

describe("entries come back from a page as they went in, with all the values they ever had", () => {
  it("blocks and their notes", () => {
    const { session, block } = example();
    const entry = must(session.state.blocks.get(block), "block");
    const back = codecs.blocks.decode(stored(codecs.blocks.encode(entry)));
    expect(back).toEqual(entry);
    expect(versionList(back.notes)).toHaveLength(2);
  });

  it("exchanges, also those of pages that do not say how they were sent on", () => {
    const { exchange } = deltaExamples["exchange-opened"];
    const entry = { ...exchange, rendering: "managed", openedSeq: seqOf(1), end: null } as const;
    expect(codecs.exchanges.decode(stored(codecs.exchanges.encode(entry)))).toEqual(entry);
    const { rendering: _, ...older } = entry;
    expect(codecs.exchanges.decode(stored(older))).toEqual({ ...entry, rendering: "raw" });
  });

  it("facts, each with its own log, and no log for those nobody touched", () => {
    const { session, block } = example();
    const log = must(session.state.views.get(viewId(1))?.facts.get(block), "facts");
    const back = codecs.facts.decode(stored(codecs.facts.encode(log)));
    expect(back).toEqual(log);
    expect(new Set(Object.keys(back))).toEqual(new Set(["level", "pin"]));
    expect(versionList(back.pin ?? null)).toHaveLength(2);
  });

  it("what was shown", () => {
    const log = withVersion(withVersion(null, seqOf(2), "original" as const), seqOf(7), "absent" as const);
    expect(codecs.shown.decode(stored(codecs.shown.encode(log)))).toEqual(log);
  });

  it("steps, done and undone", () => {
    const { session, step } = example();
    session.reverse(step);
    const entry = must(session.state.steps.get(step), "step");
    const back = codecs.steps.decode(stored(codecs.steps.encode(entry)));
    expect(back).toEqual(entry);
    expect(versionList(back.log).map(([, { done }]) => done)).toEqual([true, false]);
  });

  it("plain data", () => {
    const value = { a: [1, null, "x"] };
    expect(plain<typeof value>().decode(stored(plain<typeof value>().encode(value)))).toEqual(value);
  });
});

describe("a stored log without a single version", () => {
  it("is damage, not an empty log", () => {
    expect(() => codecs.shown.decode([])).toThrow(AssertionFault);
    expect(() => codecs.blocks.decode({ block: {}, notes: [] })).toThrow(AssertionFault);
    expect(() => codecs.steps.decode({ log: [] })).toThrow(AssertionFault);
  });
});
