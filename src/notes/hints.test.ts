import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostileText, nonce } from "../../test/support/render-facts.ts";
import { offerLine } from "./hints.ts";
import { isOwnLine } from "./own-line.ts";

const auth = { block: 12, name: "auth flow", tokens: 1_200, exact: false };
const schema = { block: 27, name: "db schema", tokens: 812, exact: false };

describe("the line that offers cold blocks", () => {
  it("names them by id", () => {
    expect(offerLine(nonce, [auth, schema])).toBe(
      "[k7f3 hint: archived and maybe relevant: #12 auth flow ~1.2k, #27 db schema ~0.8k -> expand]",
    );
  });

  it("is not there when there is nothing to offer, and offers three at most", () => {
    expect(offerLine(nonce, [])).toBeNull();
    expect(offerLine(nonce, [auth, auth, auth, schema])).not.toContain("#27");
  });

  it("stays one line of ours, whatever the names", () => {
    fc.assert(
      fc.property(hostileText, (name) => {
        const line = offerLine(nonce, [{ ...auth, name }, schema]) ?? "";
        expect(isOwnLine(line, nonce)).toBe(true);
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect(line.toLowerCase().split(nonce)).toHaveLength(2);
      }),
    );
  });
});
