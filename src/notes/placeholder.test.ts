import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { o200k } from "../../test/support/o200k.ts";
import { hostileText, nonce } from "../../test/support/render-facts.ts";
import type { HeaderBlock } from "./header.ts";
import { isOwnLine } from "./own-line.ts";
import { hintOf, hintTokensMax, type PrunedBlock, placeholder } from "./placeholder.ts";
import { safeText } from "./safe-text.ts";

const block: HeaderBlock = {
  block: 27,
  kind: "tool-result",
  tokens: 4_210,
  exact: false,
  ttl: { turns: 3, until: 51 },
  state: "pruned",
};
const pruned: PrunedBlock = { block, reason: "stale tool output", hint: "npm test\\n12 passed…" };
const compact = { nonce, turn: 31, mode: "compact" } as const;
const full = { nonce, turn: 31, mode: "full" } as const;

describe("a placeholder", () => {
  it("says which block it was, why it went, its gist, and how to get it back", () => {
    expect(placeholder(compact, pruned)).toBe(
      '[k7f3 #27 result ~4.2k pruned (stale tool output): "npm test\\n12 passed…" -> expand #27]',
    );
    expect(placeholder(full, pruned)).toBe(
      "[Part ID: 27 | Type: tool-result | Tokens: ~4210 | PRUNED | Reason: stale tool output | " +
        'Hint: "npm test\\n12 passed…" | expand #27 | k7f3]',
    );
  });

  it.each([null, "", "  \n "])("without a reason (%j) says so", (reason) => {
    expect(placeholder(compact, { ...pruned, reason })).toContain("pruned (no reason given)");
    expect(placeholder(full, { ...pruned, reason })).toContain("| Reason: no reason given |");
  });

  it("without a hint has none", () => {
    expect(placeholder(compact, { ...pruned, hint: "" })).toContain("(stale tool output) -> expand #27]");
    expect(placeholder(full, { ...pruned, hint: "" })).not.toContain("Hint");
  });

  it("points to where the content stands again", () => {
    expect(placeholder(compact, pruned, 58)).toMatch(/-> see #58\]$/);
    expect(placeholder(full, pruned, 58)).toMatch(/\| see #58 \| k7f3\]$/);
  });

  it("promises nothing where the content is gone", () => {
    expect(placeholder(compact, { ...pruned, hint: "", isKept: false })).toMatch(/-> cannot be expanded\]$/);
  });

  it("is written where headers are off, too", () => {
    expect(placeholder({ ...compact, mode: "off" }, pruned)).toBe(placeholder(compact, pruned));
  });

  it("keeps on its line whatever reason and hint say", () => {
    fc.assert(
      fc.property(hostileText, hostileText, (reason, text) => {
        for (const header of [compact, full]) {
          const line = placeholder(header, { block, reason, hint: hintOf(text) });
          expect(isOwnLine(line, nonce)).toBe(true);
          expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
          expect(line.toLowerCase().split(nonce)).toHaveLength(2);
          expect(line.match(/[[\]]/g)).toEqual(["[", "]"]);
        }
      }),
    );
  });
});

describe("a hint", () => {
  it("is the beginning of a text, its lines in one", () => {
    expect(hintOf("\n\n  passed\n\n  12 tests\r\n")).toBe("passed\\n12 tests");
    expect(hintOf("")).toBe("");
    expect(hintOf(`FAIL src/auth/login.test.ts > login\n${"expected 200 to be 401\n".repeat(9_999)}`)).toBe(
      "FAIL src/auth/login.test.ts > login\\nexpected…",
    );
  });

  it("has 24 tokens at most, whatever the text, also where it stands", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const hint = hintOf(text);
        expect(hint).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(o200k(hint)).toBeLessThanOrEqual(hintTokensMax);
        expect(o200k(safeText(hint, nonce))).toBeLessThanOrEqual(hintTokensMax);
      }),
      { numRuns: 500 },
    );
  });

  it("splits no character", () => {
    expect(hintOf("😀".repeat(50))).toBe(`${"😀".repeat(5)}…`);
  });
});
