import { describe, expect, it } from "vitest";
import { detailed, nonce, shownFacts } from "../../test/support/render-facts.ts";
import { changeNote } from "./change-note.ts";
import { compactHeader, type HeaderBlock, messageHeader, partHeader, type TurnHeader } from "./header.ts";
import { offerLine } from "./hints.ts";
import { manifestText } from "./manifest.ts";
import { memoryLine } from "./memory-line.ts";
import { continuesOwnLine, isOwnLine } from "./own-line.ts";
import { placeholder } from "./placeholder.ts";
import { rangeText } from "./range.ts";
import { reasoningText } from "./reasoning.ts";
import { selectionLine } from "./selection.ts";

const block: HeaderBlock = { block: 27, kind: "user", tokens: 900, exact: true, ttl: null, state: null };
const message = { message: 12, role: "user", from: "client", blocks: [block] };
const header: TurnHeader = {
  nonce,
  turn: 31,
  timeMs: 0,
  zoneMinutes: 0,
  sinceMs: null,
  saysDate: false,
  messages: [message],
};
const memory = { block: 9, text: "two\nlines", taint: "model" } as const;
const pruned = { block, reason: null, hint: "gist" };
const range = { from: 1, to: 2, reasons: [], signatures: 0 };
const stored = { block: 1, message: 1, turn: 1, text: null, outcome: [] };

const manifests = (["text", "xml", "markdown"] as const).flatMap((variant) =>
  (["summary", "detailed"] as const).map((detail) =>
    manifestText({ ...shownFacts, ranges: [range] }, { ...detailed, variant, detail }),
  ),
);

const ours: readonly string[] = [
  memoryLine(memory, nonce),
  compactHeader(header),
  messageHeader(header, message),
  partHeader(header, block),
  placeholder({ ...header, mode: "compact" }, pruned),
  placeholder({ ...header, mode: "full" }, pruned, 58),
  rangeText(nonce, [range]),
  reasoningText(nonce, [stored]),
  offerLine(nonce, [{ block: 1, name: "a", tokens: 1, exact: true }]) ?? "",
  selectionLine(nonce, [{ block: 1, name: "a" }]) ?? "",
  changeNote(shownFacts, detailed) ?? "",
  ...manifests,
];

describe("a line of ours, where a model repeats it", () => {
  it.each(ours)("is recognised: %s", (text) => {
    const [first = "", ...rest] = text.split("\n");
    for (const line of [first, `  ${first} `, `> ${first}`, `\`${first}\``]) {
      expect(isOwnLine(line, nonce), line).toBe(true);
    }
    for (const line of rest) expect(continuesOwnLine(line), line).toBe(true);
  });

  it.each(ours)("with another nonce, or none, is content: %s", (text) => {
    const [first = ""] = text.split("\n");
    expect(isOwnLine(first, "zz99")).toBe(false);
    expect(isOwnLine(first.replaceAll(nonce, "").replace("  ", " "), nonce)).toBe(false);
  });

  it.each([
    "",
    nonce,
    `The mark is ${nonce}.`,
    `[${nonce}]`,
    `[${nonce} opens a list and goes on] with words`,
    `see [${nonce} turn 3]`,
    "[user-selected] #12",
    "PRIMACY 3 3.2k",
    `Part ID: 27 | ${nonce}`,
  ])("is not mistaken: %j", (line) => {
    expect(isOwnLine(line, nonce)).toBe(false);
  });

  it("takes no longer for a line of blanks", () => {
    expect(isOwnLine(`[${nonce} ${" ".repeat(1_000_000)}x`, nonce)).toBe(false);
    expect(isOwnLine(`${" ".repeat(1_000_000)}[${nonce} turn 3]`, nonce)).toBe(true);
  });

  it("does not reach over what somebody says after it", () => {
    for (const line of ["", "MIDDLEWARE is next", "- Messages are sent", "budget 3k", "The rest"]) {
      expect(continuesOwnLine(line), line).toBe(false);
    }
  });
});
