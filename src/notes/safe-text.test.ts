import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostileText, nonce } from "../../test/support/render-facts.ts";
import { listed, safeText, shortened } from "./safe-text.ts";

describe("text from content", () => {
  it("stays on its line, ends no field of ours and does not carry the nonce, whatever it says", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const safe = safeText(text, nonce);
        expect(safe).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}[\]{}|"]/u);
        expect(safe.toLowerCase()).not.toContain(nonce);
        expect(safe).toBe(safe.trim());
        expect(safeText(safe, nonce)).toBe(safe);
      }),
    );
  });

  it("is left as it is where there is nothing to fear", () => {
    const text = "src/auth/login.ts: Map<string, User> (see POST /sessions)";
    expect(safeText(text, nonce)).toBe(text);
  });

  it("of any length takes no longer than a line", () => {
    expect(safeText("a".repeat(5_000_000), nonce)).toHaveLength(2_000);
  });
});

describe("a text that is too long", () => {
  it("says that it was cut, and is not cut inside a character", () => {
    expect(shortened("dependency decisions", 11)).toBe("dependency…");
    expect(shortened("ab😀cd", 4)).toBe("ab…");
    expect([shortened("abc", 3), shortened("abc", 0)]).toEqual(["abc", ""]);
  });
});

describe("a name in a list", () => {
  it.each([
    ["auth.ts login flow", "auth.ts login flow"],
    ["POST /sessions", "POST /sessions"],
    ["src/a.ts:12", "src/a.ts:12"],
    ["read, then write", '"read, then write"'],
    ["f(x)", '"f(x)"'],
    ["a -> b", '"a -> b"'],
  ])("%s is written %s", (name, text) => {
    expect(listed(name)).toBe(text);
  });
});
