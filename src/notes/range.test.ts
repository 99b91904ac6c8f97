import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { intents, live } from "../../test/support/random-session.ts";
import { hostileText, nonce } from "../../test/support/render-facts.ts";
import { prunedRanges } from "../awareness/index.ts";
import { type BlockId, must } from "../base/index.ts";
import type { Shown } from "../engine/frames/index.ts";
import { now, shownOf, viewBlocks } from "../engine/moment/index.ts";
import { continuesOwnLine, isOwnLine } from "./own-line.ts";
import { rangeText } from "./range.ts";

describe("the text of ranges", () => {
  it("is the agreed one, with the nonce behind its first line", () => {
    const reasons = ["stale tool output", "superseded reads"];
    expect(rangeText(nonce, [{ from: 10, to: 25, reasons, signatures: 7 }])).toBe(
      "--- PRUNED MESSAGE RANGES --- | k7f3\n" +
        "- Messages ID: 10 to 25 are PRUNED | Reasons: {stale tool output, superseded reads} | " +
        "Thought Signatures Preserved: 7",
    );
  });

  it("counts reasons past the fifth, tells each once, and says where there is none", () => {
    const reasons = ["a", "b", "a", "c", "d", "e", "f", " "];
    const text = rangeText(nonce, [
      { from: 1, to: 2, reasons, signatures: 0 },
      { from: 4, to: 4, reasons: [], signatures: 0 },
    ]);
    expect(text).toContain("Reasons: {a, b, c, d, e, +1 more}");
    expect(text).toContain("- Messages ID: 4 to 4 are PRUNED | Reasons: {no reason given} |");
  });

  it("has one line for each range, whatever the reasons say", () => {
    fc.assert(
      fc.property(fc.array(fc.array(hostileText, { maxLength: 7 }), { maxLength: 3 }), (all) => {
        const ranges = all.map((reasons, index) => ({ from: index, to: index, reasons, signatures: 3 }));
        const [first, ...lines] = rangeText(nonce, ranges).split(/[\r\n\u2028\u2029]/);
        expect(isOwnLine(must(first, "a text has a first line"), nonce)).toBe(true);
        expect(lines).toHaveLength(ranges.length);
        for (const line of lines) {
          expect(continuesOwnLine(line)).toBe(true);
          expect(line.toLowerCase()).not.toContain(nonce);
          expect(line.match(/[{}|]/g)).toEqual(["|", "{", "}", "|"]);
          expect(line).toMatch(/\} \| Thought Signatures Preserved: 3$/);
        }
      }),
    );
  });
});

/** Messages of two blocks, shown as said. */
function talk(...messages: readonly (readonly [Shown, Shown])[]): TestSession {
  const session = new TestSession();
  const shows = messages.flatMap((forms) => {
    const first = session.add({ kind: "reasoning" });
    const { message } = session.place(first).block;
    const second = session.add({ kind: "tool-call", message });
    return [
      { block: first, as: forms[0] },
      { block: second, as: forms[1] },
    ];
  });
  session.send({ shows });
  return session;
}

const rangesOf = (session: TestSession) => prunedRanges(now(session.state), session.view());
const gone = ["placeholder", "placeholder"] as const;

describe("the ranges of a view", () => {
  it("are neighbouring messages of which only placeholders are shown", () => {
    const session = talk(gone, gone, ["original", "placeholder"], gone, ["trimmed", "original"]);
    for (const id of [1, 2, 3, 4, 7] as BlockId[])
      session.set(id, { archive: { reason: id < 3 ? "setup done" : "stale" } });
    expect(rangesOf(session)).toEqual([
      { from: 1, to: 2, reasons: ["setup done", "stale"], signatures: 2 },
      { from: 4, to: 4, reasons: ["stale"], signatures: 1 },
    ]);
  });

  it("hold what is archived and not shown any more, but not what was only left behind", () => {
    const session = talk(["original", "original"], ["original", "original"], ["original", "original"]);
    session.send({ below: null, shows: [] });
    expect(rangesOf(session)).toEqual([]);
    for (const id of [1, 2] as BlockId[]) session.set(id, { archive: { reason: "compacted by the client" } });
    expect(rangesOf(session)).toEqual([
      { from: 1, to: 1, reasons: ["compacted by the client"], signatures: 1 },
    ]);
  });

  it("do not hold what was never sent", () => {
    const session = talk(gone);
    const block = session.add();
    session.set(block, { archive: { reason: "early" } });
    expect(rangesOf(session)).toHaveLength(1);
    expect(rangesOf(session)[0]).toMatchObject({ from: 1, to: 1 });
  });

  it("count only reasoning that is still there", () => {
    const session = talk(gone, gone);
    session.append([{ type: "block-purged", block: 1 as BlockId }]);
    expect(rangesOf(session)).toEqual([{ from: 1, to: 2, reasons: [], signatures: 1 }]);
  });

  it("never cover a message of which more is shown, and never overlap, in any session", () => {
    fc.assert(
      fc.property(intents(60), (list) => {
        const state = must(live(list).states.at(-1), "a history has a state");
        const moment = now(state);
        for (const [, view] of state.views.entries()) {
          const ranges = prunedRanges(moment, view);
          const shown = [...viewBlocks(moment, view)].filter(({ id }) =>
            ["original", "trimmed", "summarized", "minimal"].includes(shownOf(moment, view, id)),
          );
          for (const { from, to } of ranges) {
            expect(from).toBeLessThanOrEqual(to);
            expect(shown.filter(({ message }) => message === from || message === to)).toEqual([]);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
