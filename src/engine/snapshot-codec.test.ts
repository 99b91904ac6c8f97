import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../test/support/delta-examples.ts";
import { TestSession } from "../../test/support/engine.ts";
import { AssertionFault, must, seqOf, viewId } from "../base/index.ts";
import { entryCodecs, plainCodec } from "./snapshot-codec.ts";
import { versionList, withVersion } from "./versions.ts";

/** A value as it comes back from a disk. */
const reread = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function example() {
  const session = new TestSession();
  const block = session.add({ span: 3 });
  session.append([{ type: "tokens-counted", block, tokens: { count: 5, exact: false } }]);
  session.set(block, { level: "trimmed", pin: "top" });
  session.set(block, { pin: "none" }, { by: "user" });
  const step = session.take({ deltas: [] });
  return { session, block, step };
}

describe("entries survive a page with all their versions", () => {
  it("blocks and their attributes", () => {
    const { session, block } = example();
    const entry = must(session.state.blocks.get(block), "block");
    const back = entryCodecs.blocks.decode(reread(entryCodecs.blocks.encode(entry)));
    expect(back).toEqual(entry);
    expect(versionList(back.attributes)).toHaveLength(2);
  });

  it("exchanges, also from pages without the form of their body", () => {
    const { exchange } = deltaExamples["exchange-opened"];
    const entry = { ...exchange, rendering: "managed", openedSeq: seqOf(1), end: null } as const;
    expect(entryCodecs.exchanges.decode(reread(entryCodecs.exchanges.encode(entry)))).toEqual(entry);
    const { rendering: _, ...older } = entry;
    expect(entryCodecs.exchanges.decode(reread(older))).toEqual({ ...entry, rendering: "raw" });
  });

  it("facts, each with its own log, and no log for facts that were never set", () => {
    const { session, block } = example();
    const log = must(session.state.views.get(viewId(1))?.facts.get(block), "facts");
    const back = entryCodecs.facts.decode(reread(entryCodecs.facts.encode(log)));
    expect(back).toEqual(log);
    expect(new Set(Object.keys(back))).toEqual(new Set(["level", "pin"]));
    expect(versionList(back.pin ?? null)).toHaveLength(2);
  });

  it("shown forms", () => {
    const log = withVersion(withVersion(null, seqOf(2), "original" as const), seqOf(7), "absent" as const);
    expect(entryCodecs.shown.decode(reread(entryCodecs.shown.encode(log)))).toEqual(log);
  });

  it("steps, done and undone", () => {
    const { session, step } = example();
    session.reverse(step);
    const entry = must(session.state.steps.get(step), "step");
    const back = entryCodecs.steps.decode(reread(entryCodecs.steps.encode(entry)));
    expect(back).toEqual(entry);
    expect(versionList(back.log).map(([, { done }]) => done)).toEqual([true, false]);
  });

  it("plain data", () => {
    const value = { a: [1, null, "x"] };
    expect(plainCodec<typeof value>().decode(reread(plainCodec<typeof value>().encode(value)))).toEqual(
      value,
    );
  });
});

describe("a stored log without a single version", () => {
  it("is damage, not an empty log", () => {
    expect(() => entryCodecs.shown.decode([])).toThrow(AssertionFault);
    expect(() => entryCodecs.blocks.decode({ block: {}, notes: [] })).toThrow(AssertionFault);
    expect(() => entryCodecs.steps.decode({ log: [] })).toThrow(AssertionFault);
  });
});
