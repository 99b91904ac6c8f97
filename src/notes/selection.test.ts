import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostileText, nonce } from "../../test/support/render-facts.ts";
import { writeSelectedField } from "./manifest-note.ts";
import { isOwnLine } from "./own-line.ts";
import { selectionLine, shownSelected } from "./selection.ts";

const fieldText = (selected: readonly { readonly block: number; readonly name: string | null }[]): string =>
  writeSelectedField({ selected: selected.map((one) => shownSelected(nonce, one)), more: 0 });

const selected = [
  { block: 12, name: "auth flow" },
  { block: 27, name: "db schema" },
  { block: 31, name: null },
];

describe("what the user has highlighted", () => {
  it("is tagged inside a manifest", () => {
    expect(fieldText(selected)).toBe("[user-selected] #12 (auth flow) #27 (db schema) #31");
  });

  it("is told in a sentence on its own", () => {
    expect(selectionLine(nonce, selected)).toBe(
      "[k7f3 The user has highlighted these blocks as relevant to this task: #12 (auth flow), #27 (db schema), #31]",
    );
  });

  it("is not mentioned when there is none", () => {
    expect(selectionLine(nonce, [])).toBe(null);
  });

  it("stays where it is, whatever the names", () => {
    fc.assert(
      fc.property(hostileText, (name) => {
        const line = selectionLine(nonce, [{ block: 12, name }]) ?? "";
        expect(isOwnLine(line, nonce)).toBe(true);
        expect(line.toLowerCase().split(nonce)).toHaveLength(2);
        expect(line.match(/[()]/g) ?? ["(", ")"]).toEqual(["(", ")"]);
        expect(fieldText([{ block: 12, name }])).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
