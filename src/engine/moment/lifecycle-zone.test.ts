import { describe, expect, it } from "vitest";
import { TestSession } from "../../../test/support/engine.ts";
import { type BlockId, must, turnOf } from "../../base/index.ts";
import { pinBlocks, setSelection } from "../change-facts.ts";
import { type BlockKind, blockKinds } from "../frames/block.ts";
import type { FactValues } from "../frames/facts.ts";
import { isPinned, type Zone, zoneOf } from "./lifecycle.ts";

type Situation = Partial<FactValues> & { readonly kind?: BlockKind; readonly inRun?: boolean };

/** The zone of an old block of the conversation with these facts. */
function zoneIn({ kind = "assistant", inRun = false, ...facts }: Situation): Zone {
  const session = new TestSession();
  session.run();
  const block = session.add({ kind });
  session.turns(1);
  if (!inRun) session.run();
  session.set(block, facts as FactValues);
  return zoneOf(session.place(block));
}

const focus = { run: 2, until: turnOf(9) };
const archive = { reason: "done" };
const placed = ["system", "memory"];

describe("the zone of a block", () => {
  it.each<[string, Zone, Situation]>([
    ["a system prompt is in primacy", "primacy", { kind: "system" }],
    ["a memory is in primacy", "primacy", { kind: "memory" }],
    ["what is pinned to the top is in primacy", "primacy", { pin: "top" }],
    ["what is pinned to the bottom is in recency", "recency", { pin: "bottom" }],
    ["what the current run brought is in recency", "recency", { inRun: true }],
    ["what is focused is in recency", "recency", { focus }],
    ["what the user selected is in recency", "recency", { selection: true }],
    ["what is archived is cold", "cold", { archive }],
    ["the rest is in the middle", "middle", {}],
    [
      "what was focused in an earlier run is in the middle",
      "middle",
      { focus: { run: 1, until: turnOf(9) } },
    ],
    ["what is only compressed or withheld stays where it is", "middle", { level: "minimal", withhold: true }],
  ])("%s", (_, zone, about) => {
    expect(zoneIn(about)).toBe(zone);
  });

  it.each(blockKinds.filter((kind) => !placed.includes(kind)))("a %s has no zone of its own", (kind) => {
    expect(zoneIn({ kind })).toBe("middle");
  });

  it.each<[string, Zone, Situation]>([
    ["archived comes before pinned", "cold", { archive, pin: "top" }],
    ["archived comes before being a memory", "cold", { archive, kind: "memory" }],
    ["archived comes before the current run", "cold", { archive, inRun: true }],
    ["archived comes before focus and selection", "cold", { archive, focus, selection: true }],
    ["a pin to the bottom comes before being a system prompt", "recency", { pin: "bottom", kind: "system" }],
    ["a pin to the bottom comes before being a memory", "recency", { pin: "bottom", kind: "memory" }],
    ["a pin to the top comes before the current run", "primacy", { pin: "top", inRun: true }],
    ["a pin to the top comes before focus and selection", "primacy", { pin: "top", focus, selection: true }],
    ["being a memory comes before the current run", "primacy", { kind: "memory", inRun: true }],
    [
      "being a memory comes before focus and selection",
      "primacy",
      { kind: "memory", focus, selection: true },
    ],
  ])("%s", (_, zone, about) => {
    expect(zoneIn(about)).toBe(zone);
  });
});

describe("the current run", () => {
  it("is everything since its first frame, that frame included", () => {
    const session = new TestSession();
    const before = session.add();
    const first = session.wished();
    session.append([
      { type: "block-added", block: first },
      { type: "run-started", stream: session.stream().id, from: 0, to: 1 },
    ]);
    const after = session.add();
    expect([before, first.id, after].map((id) => zoneOf(session.place(id)))).toEqual([
      "middle",
      "recency",
      "recency",
    ]);
  });

  it("is everything before the first user message", () => {
    const session = new TestSession();
    expect(zoneOf(session.place(session.add()))).toBe("recency");
  });

  it("is still the current run in a fork made in the middle of it", () => {
    const session = new TestSession();
    const old = session.add();
    session.run();
    const recent = session.add();
    const child = session.fork();
    expect([old, recent].map((id) => zoneOf(session.place(id, child)))).toEqual(["middle", "recency"]);
    session.run(child);
    expect([old, recent].map((id) => zoneOf(session.place(id, child)))).toEqual(["middle", "middle"]);
    expect(zoneOf(session.place(recent))).toBe("recency");
  });
});

describe("a pin", () => {
  function pinnedPair(): { session: TestSession; call: BlockId; late: BlockId } {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call" });
    session.take(pinBlocks(session.by("user"), [call], "top"), "user");
    const { pair } = must(session.state.blocks.get(call), "call").block;
    const late = session.add({ kind: "tool-result", pair });
    session.run();
    return { session, call, late };
  }

  it("protects the whole pair, also a later result", () => {
    const { session, call, late } = pinnedPair();
    expect([isPinned(session.place(call)), isPinned(session.place(late))]).toEqual([true, true]);
    expect(isPinned(session.place(session.add()))).toBe(false);
  });

  it("gives a later result the zone of its call", () => {
    const { session, call, late } = pinnedPair();
    expect([zoneOf(session.place(call)), zoneOf(session.place(late))]).toEqual(["primacy", "primacy"]);
  });

  it("on one block of a pair does not replace the pins of the others", () => {
    const { session, call, late } = pinnedPair();
    session.set(late, { pin: "bottom" });
    expect([zoneOf(session.place(call)), zoneOf(session.place(late))]).toEqual(["primacy", "recency"]);
  });

  it("protects in one view only", () => {
    const { session, call } = pinnedPair();
    expect(isPinned(session.place(call, session.agent(null)))).toBe(false);
  });

  it("is different from a selection, which protects nothing", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(setSelection(session.by("user"), [block]), "user");
    expect(isPinned(session.place(block))).toBe(false);
  });
});
