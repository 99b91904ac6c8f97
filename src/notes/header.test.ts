import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { o200k } from "../../test/support/o200k.ts";
import { hostileText, nonce } from "../../test/support/render-facts.ts";
import {
  compactHeader,
  type HeaderBlock,
  type HeaderMessage,
  messageHeader,
  partHeader,
  type TurnHeader,
} from "./header.ts";
import { isOwnLine } from "./own-line.ts";

const timeMs = Date.UTC(2026, 10, 15, 19, 5, 11);
const small = (block: number): HeaderBlock => ({
  block,
  kind: "user",
  tokens: 40,
  exact: false,
  ttl: { turns: 108, until: 139 },
  state: null,
});
const result: HeaderBlock = {
  block: 43,
  kind: "tool-result",
  tokens: 4_210,
  exact: false,
  ttl: { turns: 20, until: 51 },
  state: null,
};
const message: HeaderMessage = {
  message: 12,
  role: "user",
  from: "client",
  blocks: [small(41), small(42), result, small(44)],
};
const header: TurnHeader = {
  nonce,
  turn: 31,
  timeMs,
  zoneMinutes: -300,
  sinceMs: (2 * 60 + 10) * 60_000,
  saysDate: false,
  messages: [message],
};

describe("the compact header of a turn", () => {
  it("has ids as a range, and size and expiry of what is large", () => {
    const text = "[k7f3 turn 31, 14:05 +2h10m: message 12 #41..#44; #43 result ~4.2k until 51]";
    expect(compactHeader(header)).toBe(text);
    expect(o200k(text)).toBeLessThanOrEqual(45);
  });

  it("names what the model said first, and the date where it is new", () => {
    const said: HeaderMessage = { message: 11, role: "assistant", from: "model", blocks: [small(39)] };
    const first = {
      ...header,
      saysDate: true,
      sinceMs: null,
      messages: [said, { ...message, blocks: [small(41)] }],
    };
    expect(compactHeader(first)).toBe("[k7f3 turn 31, 2026-11-15 14:05 UTC-5: messages 11..12 #39 #41]");
  });

  it("says the day of the user's zone, not of ours", () => {
    const late = { ...header, zoneMinutes: 330, saysDate: true, sinceMs: 60_000, messages: [] };
    expect(compactHeader(late)).toBe("[k7f3 turn 31, 2026-11-16 00:35 UTC+5:30]");
  });

  it("tells what is pinned or pruned, however small, and what a block is about", () => {
    const blocks = [
      { ...small(41), state: "pinned" as const },
      { ...result, name: "src/auth.ts", exact: true },
    ];
    expect(compactHeader({ ...header, sinceMs: null, messages: [{ ...message, blocks }] })).toBe(
      "[k7f3 turn 31, 14:05: message 12 #41 #43; #41 user ~40 pinned; #43 result src/auth.ts 4.2k until 51]",
    );
  });

  it("of a block without expiry names none", () => {
    const blocks = [{ ...result, ttl: null }];
    expect(compactHeader({ ...header, messages: [{ ...message, blocks }] })).toContain("; #43 result ~4.2k]");
  });
});

describe("full headers", () => {
  it("stand before a message", () => {
    const line =
      "--- Message ID: 12 | Role: user | From: client | Time: 2026-11-15T19:05:11Z | Tokens: ~4330 | k7f3 ---";
    expect(messageHeader(header, message)).toBe(line);
  });

  it("stand before a part", () => {
    const line =
      "[Part ID: 43 | Type: tool-result | Tokens: ~4210 | Turns Left: 20 at turn 31 (until turn 51) | k7f3]";
    expect(partHeader(header, result)).toBe(line);
    expect(partHeader(header, { ...result, ttl: null, exact: true })).toBe(
      "[Part ID: 43 | Type: tool-result | Tokens: 4210 | k7f3]",
    );
  });

  it.each(["pinned", "pruned"] as const)("say what is %s; a message where all of it is", (state) => {
    const word = state.toUpperCase();
    const blocks = [small(41), result].map((block) => ({ ...block, state }));
    expect(partHeader(header, { ...result, state })).toContain(`| ${word} | k7f3]`);
    expect(messageHeader(header, { ...message, blocks })).toContain(`| ${word} | k7f3 ---`);
    expect(messageHeader(header, { ...message, blocks: [...blocks, small(44)] })).not.toContain(word);
    expect(messageHeader(header, { ...message, blocks: [] })).toContain("Tokens: 0 |");
  });
});

it("no name or speaker breaks out of a header", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const blocks = [{ ...result, name: text }];
      const lines = [
        compactHeader({ ...header, messages: [{ ...message, blocks }] }),
        messageHeader(header, { ...message, role: text, from: text }),
      ];
      for (const line of lines) {
        expect(isOwnLine(line, nonce)).toBe(true);
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect(line.toLowerCase().split(nonce)).toHaveLength(2);
      }
    }),
  );
});
