import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCommand } from "../../test/support/any-command.ts";
import { verbs } from "./command.ts";
import { printCommand } from "./grammar.ts";
import { type CommandLine, CommandLineFilter, commandLineCharsMax, commandLines } from "./text-commands.ts";

const nonce = "k7f3";
const foundTexts = (text: string): readonly string[] => commandLines(text, nonce).map((line) => line.text);

function filterPieces(pieces: readonly string[]): { passed: string; commands: readonly CommandLine[] } {
  const filter = new CommandLineFilter(nonce);
  const all = [...pieces.map((piece) => filter.push(piece)), filter.end()];
  return {
    passed: all.map(({ passed }) => passed).join(""),
    commands: all.flatMap(({ commands }) => commands),
  };
}

/** The text without its command lines: exactly what a reader must get. */
function without(text: string, lines: readonly CommandLine[]): string {
  return lines.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
}

describe("a command line", () => {
  it.each([
    ["alone", "@pin(block-31) k7f3"],
    ["between sentences", "Now.\n@pin(block-31) k7f3\nDone."],
    ["with a carriage return", "Now.\r\n@pin(block-31) k7f3\r\nDone."],
    ["with blanks behind it", "@pin(block-31) k7f3  \t\n"],
    ["behind closed code", "```ts\nx\n```\n@pin(block-31) k7f3"],
    ["behind a longer fence", "````\n```\n````\n@pin(block-31) k7f3"],
    ["behind a fence in a list", "1. do\n   - ~~~\n     @pin(1) k7f3\n     ~~~\n@pin(block-31) k7f3"],
    ["behind inline code", "use `a` and ``b`c`` \\`\n@pin(block-31) k7f3"],
    ["behind a lone backtick, in a new paragraph", "a ` b\n\n@pin(block-31) k7f3"],
    ["behind a quotation that has ended", "> said\nso\n\n@pin(block-31) k7f3"],
  ])("is found %s", (_, text) => {
    expect(foundTexts(text)).toEqual(["@pin(block-31)"]);
  });

  it.each([
    ["without the nonce", "@pin(block-31)"],
    ["with another nonce", "@pin(block-31) k7f4"],
    ["with the nonce in capitals", "@pin(block-31) K7F3"],
    ["with two blanks", "@pin(block-31)  k7f3"],
    ["with no blank", "@pin(block-31)k7f3"],
    ["with words behind it", "@pin(block-31) k7f3 please"],
    ["with words before it", "Do @pin(block-31) k7f3"],
    ["indented", " @pin(block-31) k7f3"],
    ["indented as code", "\n    @pin(block-31) k7f3"],
    ["indented by a tab", "\t@pin(block-31) k7f3"],
    ["quoted", "> @pin(block-31) k7f3"],
    ["in a quotation that goes on", "> he said:\n@pin(block-31) k7f3"],
    ["in a list", "- @pin(block-31) k7f3"],
    ["as inline code", "`@pin(block-31) k7f3`"],
    ["in inline code over lines", "see `\n@pin(block-31) k7f3\n`"],
    ["in inline code of two signs", "see ``a ` b\n@pin(block-31) k7f3\n``"],
    ["behind an escaped slash and a backtick", "a \\\\`\n@pin(block-31) k7f3\n`"],
    ["in a code fence", "```\n@pin(block-31) k7f3\n```"],
    ["in a fence of tildes", "~~~ sh `x`\n@pin(block-31) k7f3\n~~~"],
    ["in a fence that never ends", "```\n@pin(block-31) k7f3"],
    ["in a fence with a shorter one inside", "````\n```\n@pin(block-31) k7f3\n````"],
    ["in a fence with the other sign inside", "```\n~~~\n@pin(block-31) k7f3\n```"],
    ["in a fence with words behind its end", "```\n``` no\n@pin(block-31) k7f3\n```"],
    ["in a fence in a list", "- ```\n@pin(block-31) k7f3"],
    ["over two lines", "@pin(\nblock-31) k7f3"],
    ["of no verb", "@pinch(block-31) k7f3"],
    ["in capitals", "@PIN(block-31) k7f3"],
    ["longer than the limit", `@create("${"x".repeat(commandLineCharsMax)}") k7f3`],
  ])("is not one %s", (_, text) => {
    expect(foundTexts(text)).toEqual([]);
    expect(filterPieces([text]).passed).toBe(text);
  });

  it("that cannot be parsed is found too, with the error", () => {
    const [line] = commandLines("@pin() k7f3\n", nonce);
    expect(line).toMatchObject({ start: 0, end: 12, text: "@pin()", command: { ok: false } });
  });

  it("is a printed command and the nonce", () => {
    fc.assert(
      fc.property(anyCommand, (command) => {
        const [line] = commandLines(`${printCommand(command)} ${nonce}\n`, nonce);
        expect(line?.command).toEqual({ ok: true, value: command });
      }),
    );
  });
});

const pieces = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...verbs).map((verb) => `@${verb}(block-3) ${nonce}`) },
  { weight: 4, arbitrary: fc.constant("\n") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "`",
      "```",
      "~~~",
      "> ",
      "- ",
      "    ",
      "\r",
      "@",
      "@pi",
      "@pin(",
      " k7f3",
      ")",
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
);
const answer = fc.array(pieces, { maxLength: 40 }).map((list) => list.join(""));

describe("an answer that comes in pieces", () => {
  it("gives the same result as the whole text, however it is cut", () => {
    let commands = 0;
    fc.assert(
      fc.property(answer, fc.array(fc.nat({ max: 12 }), { minLength: 1 }), (text, sizes) => {
        const parts: string[] = [];
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = Math.max(turn % 3, sizes[turn % sizes.length] ?? 1);
          parts.push(text.slice(at, at + size));
          at += size;
        }
        const whole = commandLines(text, nonce);
        expect(filterPieces(parts)).toEqual({ passed: without(text, whole), commands: whole });
        commands += whole.length;
      }),
      { numRuns: 2_000 },
    );
    expect(commands).toBeGreaterThan(500);
  });

  it("is held back only if a line begins like a command", () => {
    const filter = new CommandLineFilter(nonce);
    const passed = (text: string): string => filter.push(text).passed;
    expect(passed("Hello @pin(")).toBe("Hello @pin(");
    expect(passed("3) k7f3\n")).toBe("3) k7f3\n");
    expect(passed("@")).toBe("");
    expect(passed("p")).toBe("");
    expect(passed("icture")).toBe("@picture");
    expect(passed(" and more\n@pin(3) k7f")).toBe(" and more\n");
    expect(passed("9")).toBe("");
    expect(passed("\n@")).toBe("@pin(3) k7f9\n");
    expect(filter.end()).toEqual({ passed: "@", commands: [] });
  });

  it("is held back up to the limit only", () => {
    const filter = new CommandLineFilter(nonce);
    expect(filter.push(`@create(${"x".repeat(commandLineCharsMax - 8)}`).passed).toBe("");
    expect(filter.push("y").passed).toHaveLength(commandLineCharsMax + 1);
    expect(filter.push("z").passed).toBe("z");
  });

  it("passes as one line of a million characters in small pieces", () => {
    const filter = new CommandLineFilter(nonce);
    let length = 0;
    for (let at = 0; at < 250_000; at += 1) length += filter.push("a`@p").passed.length;
    expect(length + filter.end().passed.length).toBe(1_000_000);
  });

  it.each(["\n", "x\n", "- a\n", "`\n", "> \n", "<b>\n", "```\n", "@pin(\n", "- ", "``"])(
    "passes whole: %j again and again",
    (sign) => {
      const text = sign.repeat(Math.floor(100_000 / sign.length));
      expect(filterPieces([text]).passed).toBe(text);
    },
  );
});
