import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../base/index.ts";
import { isOwnLine } from "../../notes/index.ts";
import type { Interceptor, OwnLineRules } from "../protocol.ts";
import { eventReader } from "../sse.ts";
import { readWireAnswer } from "./answer.ts";
import { interceptAnswer } from "./intercept.ts";

const isOwn = (line: string): boolean => /^\s*(?:\[k7f3 .*\]|--- .* k7f3 ---)\s*$/.test(line);
const continues = (line: string): boolean => /^(?:- )?(?:ROW |END OF ROWS)/.test(line);
const rules = { isOwn, opens: isOwn, continues };
const ownLine = "[k7f3 turn 31, 14:05: message 12 #41]";

/** An interceptor of an answer that may hold our lines, and nothing else of ours. */
function stripperFor(contentType: string, ownLines: OwnLineRules, bytesMax: number): Interceptor {
  const options = { ownLines, isOwnTool: null, commandNonce: null, bytesMax };
  return must(interceptAnswer(contentType, options), "the form is known");
}
const eventStripper = (ownLines: OwnLineRules) => stripperFor("text/event-stream", ownLines, 1e8);
const messageStripper = (ownLines: OwnLineRules, bytesMax: number) =>
  stripperFor("application/json", ownLines, bytesMax);

/** The text without our lines and the rows behind them; a text with nothing else stays unchanged. */
function withoutOwn(text: string): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  let isOurs = false;
  const left = lines.filter((line) => {
    const content = line.replace(/\n$/, "");
    isOurs = isOwn(content) || (isOurs && continues(content));
    return !isOurs;
  });
  return left.join("").trim() === "" ? text : left.join("");
}

type Wire = Readonly<Record<string, unknown>>;
/** The form in which an upstream writes its events. */
type EventFormat = (fields: Wire) => string;
const named = (fields: Wire, data: string, end: string): string =>
  `event: ${fields["type"]}${end}data: ${data}${end}${end}`;
const eventFormats: readonly EventFormat[] = [
  (fields) => named(fields, JSON.stringify(fields), "\n"),
  (fields) => named(fields, JSON.stringify(fields).replace(/\}$/, "    }"), "\n"),
  (fields) => named(fields, JSON.stringify(fields), "\r\n"),
  (fields) => `data: ${JSON.stringify(fields, null, 1).replace(/\n */g, " ")}\n\n`,
  (fields) => named(fields, JSON.stringify(Object.fromEntries(Object.entries(fields).reverse())), "\n"),
];
const [writeEvent = () => ""] = eventFormats;

const started = (index: number, type = "text"): Wire => ({
  type: "content_block_start",
  index,
  content_block: { type, [type]: "" },
});
const stopped = (index: number): Wire => ({ type: "content_block_stop", index });
const delta = (text: string, index = 0): Wire => ({
  type: "content_block_delta",
  index,
  delta: { type: "text_delta", text },
});
const thought = (thinking: string, index: number): Wire => ({
  type: "content_block_delta",
  index,
  delta: { type: "thinking_delta", thinking },
});
const ping: Wire = { type: "ping" };
const first: Wire = {
  type: "message_start",
  message: { model: "claude-x-1", content: [], usage: { input_tokens: 1 } },
};
const last: readonly Wire[] = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];

function answerOf(events: readonly Wire[], write: EventFormat = writeEvent): Buffer {
  return Buffer.from([first, ...events, ...last].map(write).join(""));
}

/** Pushes bytes cut at these positions; returns the output of each cut, and of the end. */
function run(stripper: Interceptor, bytes: Buffer, cuts: readonly number[] = []) {
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
  let start = 0;
  const pushed = ends
    .sort((a, b) => a - b)
    .map((end) => {
      const input = bytes.subarray(start, end);
      start = end;
      return { input, out: Buffer.concat(stripper.push(input)) };
    });
  const end = Buffer.concat(stripper.end());
  return { pushed, end, all: Buffer.concat([...pushed.map(({ out }) => out), end]) };
}

function textsOf(bytes: Buffer): readonly unknown[] {
  const answer = readWireAnswer(bytes, "text/event-stream");
  expect(answer.isWhole).toBe(true);
  return answer.units.map((unit) => {
    const block = JSON.parse(Buffer.from(unit.bytes).toString());
    return block.text ?? block.thinking;
  });
}

const own = fc.constantFrom(
  ownLine,
  '[k7f3 context of turn 1: é🔥 "x" \\n]',
  "--- Message ID: 12 | Role: user | k7f3 ---",
  `${ownLine}\r`,
);
const foreign = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "-",
    "--",
    "---",
    "- item",
    "[",
    "[k7f3",
    "[link](x)",
    "  - [ ] y",
    "```",
    "# Title",
    "### C",
    "> <context-",
    "a [k7f3 b]",
    "ROW 1: a row of nobody's",
  ),
  fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", "\\n")),
);
const harmless = fc.oneof(
  fc.constantFrom("", "a", "  b", "a - [b]", "\\n[", '"[', "\\", "	x", "1. [x]"),
  fc.string({ unit: "binary" }).map((text) => `x${text.replaceAll("\n", "\\n")}`),
);
const textFrom = (line: fc.Arbitrary<string>) =>
  fc.array(line, { maxLength: 8 }).map((lines) => lines.filter((text) => !isOwn(text)).join("\n"));
const row = fc.constantFrom(
  "ROW 1: é",
  "- ROW 2 | x",
  "END OF ROWS",
  `ROW ${"x".repeat(60)}`,
  "Row 3",
  "ROWS",
);
const mixed = fc.array(fc.oneof(foreign, own, row), { maxLength: 8 }).map((lines) => lines.join("\n"));
const cuts = fc.array(fc.nat(), { maxLength: 12 });
/** The cuts of a text into deltas and of its bytes into chunks, and the form of its events. */
const anyCuts = fc.record({ at: cuts, byteCuts: cuts, write: fc.constantFrom(...eventFormats) });

/** A text as deltas, cut anywhere. */
function deltasOf(text: string, at: readonly number[], index = 0): readonly Wire[] {
  const ends = [...at.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
  return ends.map((end, nth) => delta(text.slice(nth === 0 ? 0 : ends[nth - 1], end), index));
}

describe("a streamed answer", () => {
  it("loses our lines and nothing else, however text and bytes are cut", () => {
    fc.assert(
      fc.property(fc.tuple(mixed, mixed), anyCuts, ([a, b], { at, byteCuts, write }) => {
        const secret = `${ownLine}\n`;
        const events = [
          ...[started(0), ping, ...deltasOf(a, at), stopped(0)],
          ...[started(1, "thinking"), thought(secret, 1), stopped(1)],
          ...[started(2), ...deltasOf(b, at, 2), stopped(2)],
        ];
        const bytes = answerOf(events, write);
        const { all, end } = run(eventStripper(rules), bytes, byteCuts);
        expect(textsOf(all)).toEqual([withoutOwn(a), secret, withoutOwn(b)]);
        expect(
          eventReader()
            .push(all)
            .map(({ event }) => event),
        ).toEqual(
          eventReader()
            .push(bytes)
            .map(({ event }) => event),
        );
        expect(end.length).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it("without our lines passes byte for byte, and nothing is held at the end", () => {
    fc.assert(
      fc.property(textFrom(foreign), anyCuts, (text, { at, byteCuts, write }) => {
        const bytes = answerOf([started(0), ...deltasOf(text, at), stopped(0)], write);
        const { all, end } = run(eventStripper(rules), bytes, byteCuts);
        expect(all.equals(bytes)).toBe(true);
        expect(end.length).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it("in which none of our lines can begin passes every byte at once", () => {
    fc.assert(
      fc.property(textFrom(harmless), anyCuts, (text, { at, byteCuts, write }) => {
        const bytes = answerOf([started(0), ...deltasOf(text, at), stopped(0)], write);
        const { pushed } = run(eventStripper(rules), bytes, byteCuts);
        for (const { input, out } of pushed) expect(out.equals(input)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("loses our lines torn over deltas, at many pairs of cuts through the bytes, and byte by byte", () => {
    const texts = ["a\n[k7", 'f3 turn "1"', "]\nb\n-", "-- x k7f3 --", "-\n", "c"];
    const bytes = answerOf([started(0), ...texts.map((text) => delta(text)), stopped(0)]);
    const [from, to] = [bytes.indexOf("content_block_delta"), bytes.indexOf("message_delta")];
    for (let a = from; a <= to; a += 41)
      for (let b = a; b <= to; b += 3)
        expect(textsOf(run(eventStripper(rules), bytes, [a, b]).all)).toEqual(["a\nb\nc"]);
    const each = [...bytes.keys()];
    expect(textsOf(run(eventStripper(rules), bytes, each).all)).toEqual(["a\nb\nc"]);
  });

  it("passes unchanged if its bytes are noise", () => {
    const scraps = fc.constantFrom(
      "data: ",
      "event: ping",
      "\n",
      "\r\n",
      "\n\n",
      writeEvent(delta("[k7f3 x")),
      "🔥",
      "{",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(scraps, fc.string())), cuts, (parts, byteCuts) => {
        const bytes = Buffer.from(parts.join(""));
        expect(run(eventStripper(rules), bytes, byteCuts).all.equals(bytes)).toBe(true);
      }),
    );
  });
});

/** Pushes whole events one by one; returns the number of events that have passed after each. */
function eventsOut(events: readonly Wire[]): readonly number[] {
  const stripper = eventStripper(rules);
  let passed = 0;
  return events.map((event) => {
    passed += eventReader().push(Buffer.concat(stripper.push(Buffer.from(writeEvent(event))))).length;
    return passed;
  });
}

describe("text is held", () => {
  it("only from the point where a line begins like ours, until it cannot be ours", () => {
    const texts = ["a\n", "-", " item\n", "[", "x", "y\n", "z", "--", "[k7f3 "];
    expect(eventsOut([started(0), ...texts.map((text) => delta(text))])).toEqual([
      1, 2, 2, 4, 4, 4, 7, 8, 9, 10,
    ]);
  });

  it("up to the end of its block, or any other event", () => {
    expect(eventsOut([started(0), delta("[k7f3 turn"), stopped(0)])).toEqual([1, 1, 3]);
    const error = { type: "error", error: { type: "overloaded_error" } };
    expect(eventsOut([started(0), delta("[k7f3 turn"), error])).toEqual([1, 1, 3]);
    const citation = { type: "content_block_delta", index: 0, delta: { type: "citations_delta" } };
    expect(eventsOut([started(0), delta("[k7f3 x]"), citation, delta(" y")])).toEqual([1, 1, 3, 4]);
    expect(eventsOut([started(0), delta("[k7f3 x]"), delta("y", 1)])).toEqual([1, 1, 3]);
  });

  it("through one ping, and not through a second one in a row", () => {
    expect(eventsOut([started(0), delta("["), ping, delta("k"), ping, ping])).toEqual([1, 1, 1, 1, 1, 6]);
  });

  it("up to 4096 characters", () => {
    const long = "x".repeat(4_000);
    expect(eventsOut([started(0), delta("["), delta(long), delta(long), delta("\n[")])).toEqual([
      1, 1, 1, 4, 4,
    ]);
  });

  it("in at most 4096 events, and not behind endless blanks", () => {
    const passed = (text: string): number | undefined =>
      eventsOut([started(0), delta(`${ownLine}\n`), ...Array(5_000).fill(delta(text))]).at(-1);
    expect([passed(""), passed("\n")]).toEqual([5_002, 5_002]);
  });

  it("and passed on when the upstream ends", () => {
    const bytes = Buffer.from(
      writeEvent(started(0)) + writeEvent(delta("a\n[k7f3 t")) + writeEvent(delta("urn")).slice(0, 90),
    );
    const { pushed, end, all } = run(eventStripper(rules), bytes);
    expect(pushed[0]?.out.toString()).toBe(writeEvent(started(0)));
    expect(end.length).toBeGreaterThan(0);
    expect(all.equals(bytes)).toBe(true);
  });
});

describe("one of our lines", () => {
  const left = (...texts: readonly string[]): readonly unknown[] =>
    textsOf(
      run(eventStripper(rules), answerOf([started(0), ...texts.map((text) => delta(text)), stopped(0)])).all,
    );

  it("stays if the text has nothing else: a blank block would be refused when it is sent back", () => {
    expect(left(ownLine)).toEqual([ownLine]);
    expect(left("\n", `${ownLine}\n`, "  ", "\n", ownLine)).toEqual([`\n${ownLine}\n  \n${ownLine}`]);
    expect(left(`${ownLine}\n`, "\n", ` ${ownLine}\n`, "  ", "a")).toEqual(["\n  a"]);
    // Leading lines are held up to this limit; our lines behind it are taken out again.
    const heldMax = Math.ceil(4_097 / (ownLine.length + 1));
    expect(left(`${ownLine}\n`.repeat(200), "a")).toEqual([`${`${ownLine}\n`.repeat(heldMax)}a`]);
  });

  it("is taken out as the first, as the last without a line end, indented, and in code", () => {
    expect(left(`${ownLine}\n`, "a")).toEqual(["a"]);
    expect(left("a\n", ownLine.slice(0, 9), ownLine.slice(9))).toEqual(["a\n"]);
    expect(left(`a\n  \t${ownLine}\r\nb`)).toEqual(["a\nb"]);
    expect(left(`\`\`\`\n${ownLine}\n\`\`\``)).toEqual(["```\n```"]);
  });

  it.each([
    "[k7f3 turn 31, 14:05 +2h10m: message 12 #41..#44; #43 result ~4.2k until 51]",
    "[Part ID: 27 | Type: tool-result | Tokens: ~4210 | k7f3]",
    "--- Message ID: 12 | Role: user | From: client | Tokens: ~812 | k7f3 ---",
    "--- PRUNED MESSAGE RANGES --- | k7f3",
    "[CONTEXT MANIFEST k7f3 turn 34 | 42 blocks | 140k/200k tokens, 70%]",
    "### CONTEXT MANIFEST k7f3 turn 34",
    "<context-manifest mark=k7f3 turn=34>",
  ])("is taken out in any form the model is shown: %s", (line) => {
    const stripper = eventStripper({
      isOwn: (text) => isOwnLine(text, "k7f3"),
      opens: () => false,
      continues,
    });
    const texts = [..."a\n", ...line, ..."\n", `> **${line}**\n`, `\`${line}\`\n`, "b"];
    const events = [started(0), ...texts.map((text) => delta(text)), stopped(0)];
    expect(textsOf(run(stripper, answerOf(events)).all)).toEqual(["a\nb"]);
  });

  it("stays if blanks before it have passed: half a line is not taken out", () => {
    expect(left("a\n  ", `${ownLine}\nb`)).toEqual([`a\n  ${ownLine}\nb`]);
  });

  it("stays if the line has other text", () => {
    expect(left(ownLine, " and more\n", `see ${ownLine}\n`)).toEqual([
      `${ownLine} and more\nsee ${ownLine}\n`,
    ]);
  });

  it("is taken out of the text in the first event of a block", () => {
    const start = {
      type: "content_block_start",
      index: 0,
      content_block: { type: "text", text: `${ownLine}\na` },
    };
    expect(textsOf(run(eventStripper(rules), answerOf([start, stopped(0)])).all)).toEqual(["a"]);
  });

  it("is not searched for in an event that is too long, but is again behind it", () => {
    const long = delta("x".repeat(200_000));
    const bytes = answerOf([started(0), long, delta(`\n${ownLine}\nb`), stopped(0)]);
    const { pushed, all } = run(eventStripper(rules), bytes, [70_000, 140_000]);
    expect(textsOf(all)).toEqual([`${"x".repeat(200_000)}\nb`]);
    expect(pushed[0]?.out.length).toBe(70_000);
  });
});

describe("our lines in a JSON answer", () => {
  const messageOf = (text: string, space?: number): Buffer =>
    Buffer.from(
      JSON.stringify(
        {
          id: "m",
          content: [
            { type: "thinking", thinking: ownLine },
            { type: "text", text },
          ],
          usage: { n: 1.5 },
        },
        null,
        space,
      ).replace("1.5", "1.0"),
    );

  it("are taken out when it is whole, and no other byte changes", () => {
    fc.assert(
      fc.property(mixed, cuts, fc.constantFrom(undefined, 2), (text, byteCuts, space) => {
        const { pushed, all } = run(messageStripper(rules, 1e6), messageOf(text, space), byteCuts);
        expect(all.equals(messageOf(withoutOwn(text), space))).toBe(true);
        for (const { out } of pushed) expect(out.length).toBe(0);
      }),
    );
  });

  it("stay if it is too large, or no message", () => {
    const bytes = messageOf(`${ownLine}\n`);
    const { pushed, all } = run(messageStripper(rules, 50), bytes, [40, 60]);
    expect(pushed.map(({ out }) => out.length)).toEqual([0, 60, bytes.length - 60]);
    expect(all.equals(bytes)).toBe(true);
    for (const text of [
      "",
      "null",
      '{"content":"x"}',
      '{"content":[1,{"type":"text"}]}',
      '{"content":[{"type"',
    ])
      expect(run(messageStripper(rules, 50), Buffer.from(text)).all.toString()).toBe(text);
  });
});
