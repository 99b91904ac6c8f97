import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { o200k } from "../../test/support/o200k.ts";
import { detailed, emptyFacts, hostileText, nonce, shownFacts } from "../../test/support/render-facts.ts";
import { changeWords } from "../awareness/index.ts";
import { changeNote, changeNoteTokensMax } from "./change-note.ts";
import { isOwnLine } from "./own-line.ts";

const pinned = { actor: "user", what: "pinned", blocks: [31], tokens: 0, reason: "" } as const;

describe("a note of what changed", () => {
  it("is one line with the changes, the next expiry and what is free", () => {
    const facts = { ...shownFacts, changes: [pinned] };
    expect(changeNote(facts, detailed)).toBe("[k7f3 turn 34: user pinned #31; #43 expires at 37; 60k free]");
  });

  it("is not made when nothing changed and nothing expires within three turns", () => {
    const later = [{ block: 45, at: 38 }];
    expect(changeNote({ ...shownFacts, changes: [], expiring: later }, detailed)).toBeNull();
    expect(changeNote(emptyFacts, detailed)).toBeNull();
  });

  it("is made for an expiry alone, and says nothing of the fill where that is hidden", () => {
    const expiring = [41, 42, 43].map((block) => ({ block, at: 36 }));
    const note = changeNote({ ...shownFacts, changes: [], expiring }, { ...detailed, fill: "hidden" });
    expect(note).toBe("[k7f3 turn 34: #41..#43 expire at 36]");
  });

  it("has 40 tokens at most, and stays one line of ours, whatever happened", () => {
    const change = fc.record({
      actor: fc.constantFrom("user" as const, "model" as const, "policy" as const),
      what: fc.constantFrom(...changeWords),
      blocks: fc.array(fc.nat(2_000_000), { minLength: 1, maxLength: 20 }),
      tokens: fc.nat(3_000_000),
      reason: hostileText,
      by: fc.nat(2_000_000),
    });
    const expiry = fc.record({ block: fc.nat(2_000_000), at: fc.integer({ min: 34, max: 40 }) });
    const some = fc.tuple(fc.array(change, { maxLength: 6 }), fc.array(expiry, { maxLength: 20 }));
    fc.assert(
      fc.property(some, fc.nat(3_000_000), ([changes, expiring], free) => {
        const note = changeNote({ ...shownFacts, changes, expiring, free, exact: false }, detailed);
        if (note === null) return;
        expect(o200k(note)).toBeLessThanOrEqual(changeNoteTokensMax);
        expect(isOwnLine(note, nonce)).toBe(true);
        expect(note.toLowerCase().split(nonce)).toHaveLength(2);
        expect(note).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
      { numRuns: 300 },
    );
  });
});
