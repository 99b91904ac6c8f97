import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCommand, anyText, longestCommands } from "../../test/support/any-command.ts";
import { unwrap } from "../base/index.ts";
import { type Command, commandLimits, noReason, type Pointer, verbs } from "./command.ts";
import { parseCommand, parseTarget, printCommand, printTarget } from "./grammar.ts";

const block = (first: number, last = first): Pointer => ({ by: "block", first, last });
const message = (first: number, last = first): Pointer => ({ by: "message", first, last });
const unknownId = (by: "block" | "message"): Pointer => ({ by, first: 0, last: 0 });
const topic = (words: string): Pointer => ({ by: "topic", words });
const middle: Pointer = { by: "zone", zone: "middle" };
const stale: Pointer = { by: "stale" };

const examples: readonly (readonly [string, Command])[] = [
  ["@expand(block-27)", { verb: "expand", target: [block(27)], level: "original" }],
  [
    '@expand("auth implementation")',
    { verb: "expand", target: [topic("auth implementation")], level: "original" },
  ],
  ["@expand(27, from: 24000)", { verb: "expand", target: [block(27)], level: "original", from: 24_000 }],
  ["@expand(27, from=0)", { verb: "expand", target: [block(27)], level: "original" }],
  ["@expand(27, trimmed)", { verb: "expand", target: [block(27)], level: "trimmed" }],
  [
    '@recall("database migration decisions")',
    { verb: "recall", target: [topic("database migration decisions")] },
  ],
  ["@recall(block-45)", { verb: "recall", target: [block(45)] }],
  ["@expand(block-0)", { verb: "expand", target: [unknownId("block")], level: "original" }],
  ["@expand(#-3)", { verb: "expand", target: [unknownId("block")], level: "original" }],
  ["@recall(message-99999999999999999999)", { verb: "recall", target: [unknownId("message")] }],
  ['@recall("topic")', { verb: "recall", target: [topic("topic")] }],
  ["@recall(query: 'token refresh')", { verb: "recall", target: [topic("token refresh")] }],
  ["@recall(database migration)", { verb: "recall", target: [topic("database migration")] }],
  ['@compress("middle", "trimmed")', { verb: "compress", target: [middle], level: "trimmed" }],
  ['@compress(block-12, "summarized")', { verb: "compress", target: [block(12)], level: "summarized" }],
  ['@compress("stale", "minimal")', { verb: "compress", target: [stale], level: "minimal" }],
  ["@compress(zone:middle, level: minimal)", { verb: "compress", target: [middle], level: "minimal" }],
  ["@compress(#3)", { verb: "compress", target: [block(3)], level: "trimmed" }],
  ["@pin(block-31)", { verb: "pin", target: [block(31)], position: "top" }],
  ["@pin(#31, bottom)", { verb: "pin", target: [block(31)], position: "bottom" }],
  ["@unpin(block-12)", { verb: "unpin", target: [block(12)] }],
  ["@focus(block-12, block-27, block-31)", { verb: "focus", target: [block(12), block(27), block(31)] }],
  ["@focus([12, 27])", { verb: "focus", target: [block(12), block(27)] }],
  [
    '@archive("setup conversation")',
    { verb: "archive", target: [topic("setup conversation")], reason: noReason },
  ],
  ["@archive(block-1..block-10)", { verb: "archive", target: [block(1, 10)], reason: noReason }],
  ['@archive("old auth notes")', { verb: "archive", target: [topic("old auth notes")], reason: noReason }],
  ['@archive(#1..#10, "setup done")', { verb: "archive", target: [block(1, 10)], reason: "setup done" }],
  [
    '@archive(3, message-4, reason="a, b")',
    { verb: "archive", target: [block(3), message(4)], reason: "a, b" },
  ],
  ['@update(block-12, "revised")', { verb: "update", block: 12, text: "revised" }],
  [
    '@create("learned: X pattern")',
    { verb: "create", text: "learned: X pattern", topic: null, supersedes: null },
  ],
  [
    "@create(learned: f(x) pattern)",
    { verb: "create", text: "learned: f(x) pattern", topic: null, supersedes: null },
  ],
  [
    "@create('it\\'s so', \"auth\", block-12)",
    { verb: "create", text: "it's so", topic: "auth", supersedes: 12 },
  ],
  ["@create(“said”, supersedes=#4)", { verb: "create", text: "said", topic: null, supersedes: 4 }],
  ["@diff()", { verb: "diff", since: null }],
  ["@diff(31)", { verb: "diff", since: 31 }],
  ["@diff(since: turn 31)", { verb: "diff", since: 31 }],
  ["@manifest()", { verb: "manifest", detail: "detailed" }],
  ["@manifest(summary)", { verb: "manifest", detail: "summary" }],
  [" @Expand (Block-27) ", { verb: "expand", target: [block(27)], level: "original" }],
  ["unpin(3)", { verb: "unpin", target: [block(3)] }],
];

const targets: readonly (readonly [string, readonly Pointer[]])[] = [
  ["block-27", [block(27)]],
  ["27", [block(27)]],
  ["#27", [block(27)]],
  ["part 27", [block(27)]],
  ["block-1..block-10", [block(1, 10)]],
  ["block-1..10", [block(1, 10)]],
  ["#1..#10", [block(1, 10)]],
  ["10..1", [block(1, 10)]],
  ["1-10", [block(1, 10)]],
  ["message-12", [message(12)]],
  ["message-10..25", [message(10, 25)]],
  ["messages 10 to 25", [message(10, 25)]],
  ["message: 12", [message(12)]],
  ['"middle"', [middle]],
  ["middle", [middle]],
  ["zone:middle", [middle]],
  ['"stale"', [stale]],
  ["stale", [stale]],
  ['"some topic"', [topic("some topic")]],
  ["'some, topic', #3,", [topic("some, topic"), block(3)]],
  ['["#1", "#2"]', [block(1), block(2)]],
  ['topic: "middle"', [topic("middle")]],
  ["0", [topic("0")]],
  ["block-9999999999999999", [unknownId("block")]],
];

describe("the text form", () => {
  it.each(examples)("%s is understood", (text, command) => {
    expect(unwrap(parseCommand(text))).toEqual(command);
  });

  it.each(targets)("the target %s is understood, in a command too", (text, target) => {
    expect(unwrap(parseTarget(text))).toEqual(target);
    expect(unwrap(parseCommand(`@focus(${text})`))).toEqual({ verb: "focus", target });
  });

  it("has an example of every verb", () => {
    expect(new Set(examples.map(([, { verb }]) => verb))).toEqual(new Set(verbs));
  });

  it("reads back every command that it prints", () => {
    fc.assert(
      fc.property(anyCommand, fc.integer({ min: 1, max: 1e12 }), (given, from) => {
        const command: Command = given.verb === "expand" ? { ...given, from } : given;
        const text = printCommand(command);
        expect(text).not.toMatch(/[\n\r]/);
        expect(unwrap(parseCommand(text))).toEqual(command);
        if ("target" in command)
          expect(unwrap(parseTarget(printTarget(command.target)))).toEqual(command.target);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(longestCommands)("prints and reads the longest $verb", (command) => {
    expect(printCommand(command).length).toBeGreaterThan(commandLimits.commandCharsMax * 0.7);
    expect(unwrap(parseCommand(printCommand(command)))).toEqual(command);
  });

  it("prints every command it reads so that it is read back unchanged", () => {
    fc.assert(
      fc.property(fc.constantFrom(...verbs), anyText, (verb, text) => {
        const command = parseCommand(`@${verb}(${text})`);
        if (command.ok) expect(parseCommand(printCommand(command.value))).toEqual(command);
      }),
      { numRuns: 1_000 },
    );
  });
});

const mistakes: readonly (readonly [string, RegExp])[] = [
  ["", /is no command; write one like @expand\(block-27\)/],
  ["hello", /is no command/],
  ["@expnd(3)", /there is no @expnd; the commands are expand, recall,/],
  ["@pin(3", /@pin\( is not closed; write it like @pin\(block-31\)/],
  ["@pin()", /pin needs a target, for example @pin\(block-31\)/],
  ["@expand(3, from: end)", /"end" is no character to begin at: write a number/],
  ["@pin(3,,4)", /a target is missing between two commas/],
  ['@recall("")', /an empty topic finds nothing/],
  ['@recall("open)', /the quote .* is not closed; end it with "/],
  ['@recall("a" b)', /after "a" a comma was expected, not "b"/],
  ['@compress(3, "tiny")', /"tiny" is no level to compress to: use trimmed, summarized or minimal/],
  ["@compress(3, level: original)", /"original" is no level to compress to/],
  ["@pin(3, position: left)", /"left" is no position: use top or bottom/],
  ["@archive(zone: cellar)", /"cellar" is no zone: use primacy, middle, recency or cold/],
  ["@update(middle, x)", /update takes one block and the new text, for example @update/],
  ["@update(1..3, x)", /update takes one block/],
  ["@update(3)", /update needs a text/],
  ["@create()", /create needs a text/],
  ["@create(a, b, c, d)", /create takes fewer arguments; put the text in quotes/],
  ['@create("a", supersedes: middle)', /supersedes takes one block such as block-12, not "middle"/],
  [`@create("a", topic: "${"t".repeat(121)}")`, /a topic has at most 120 characters; this one has 121/],
  [`@create("${"t".repeat(8_001)}")`, /a note has at most 8000 characters; this one has 8001/],
  ["@diff(yesterday)", /"yesterday" is no turn: write a number/],
  ["@diff(1, 2)", /diff takes fewer arguments, for example/],
  ["@manifest(all)", /"all" is no detail: use summary or detailed/],
  [`@focus(${"1,".repeat(201)})`, /focus takes at most 200 targets at once; use a range/],
  [`@focus(${"1,".repeat(9_000)})`, /more than 210 values; use ranges such as block-1\.\.10/],
  [`@focus(${"a b,".repeat(21)})`, /focus takes at most 20 topics at once/],
  [`@pin(${"1".repeat(20_000)})`, /a command has at most 20000 characters/],
];

describe("a mistake", () => {
  it.each(mistakes.map(([text, problem]) => [text.slice(0, 40), text, problem] as const))(
    "in %s is explained in one line",
    (_, text, problem) => {
      const result = parseCommand(text);
      expect(result).toMatchObject({ ok: false, error: { code: "AP_COMMAND_INVALID" } });
      const line = result.ok ? "" : result.error.message;
      expect(line).toMatch(problem);
      expect(line).not.toMatch(/[\n{}]|undefined/);
      expect(line.length).toBeLessThan(220);
    },
  );

  it("is quoted without characters that could break the line", () => {
    const result = parseCommand(`@compress(3, "a\\nb\u200b\u001b[2J${"x".repeat(90)}")`);
    expect(result.ok ? "" : result.error.message).toMatch(/: "a b \[2Jx+…" is no level/);
  });

  it("in a target alone is explained too", () => {
    expect(parseTarget("1".repeat(20_001))).toMatchObject({ error: { code: "AP_COMMAND_INVALID" } });
    expect(parseTarget('"open')).toMatchObject({ error: { code: "AP_COMMAND_INVALID" } });
  });
});
