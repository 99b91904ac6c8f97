import fc from "fast-check";
import { commandLimits, type Pointer } from "../../src/commands/command.ts";
import type { Command, Target, Verb } from "../../src/commands/index.ts";
import { levels } from "../../src/engine/frames/index.ts";
import type { CommandBatch } from "../../src/exchange/index.ts";
import type { executeRecordedCalls } from "../../src/execute/index.ts";

const zones = ["primacy", "middle", "recency", "cold"] as const;

/** Texts as people and models write them, and signs that mean something to the grammar. */
export const anyText = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...`"'\\“”()[],:=@#.-\n\r\t nr1a `), maxLength: 40 }),
    fc.constantFrom(
      "middle",
      "stale",
      "27",
      "#27",
      "trimmed",
      "top",
      "zone:cold",
      "block-1..block-3",
      "topic: x",
    ),
  )
  .filter((text) => text.trim() !== "");

const id = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 999_999_999_999_999 }));
const numbers = fc.tuple(id, id).map(([a, b]) => ({ first: Math.min(a, b), last: Math.max(a, b) }));

export const anyPointer: fc.Arbitrary<Pointer> = fc.oneof(
  id.map((first) => ({ by: "block" as const, first, last: first })),
  numbers.map((range) => ({ by: "block" as const, ...range })),
  numbers.map((range) => ({ by: "message" as const, ...range })),
  fc.constantFrom(...zones).map((zone) => ({ by: "zone" as const, zone })),
  fc.constant({ by: "stale" as const }),
  anyText.map((words) => ({ by: "topic" as const, words })),
);

const target: fc.Arbitrary<Target> = fc.array(anyPointer, { minLength: 1, maxLength: 6 });

const byVerb: { readonly [V in Verb]: fc.Arbitrary<Extract<Command, { readonly verb: V }>> } = {
  expand: fc.record({ verb: fc.constant("expand"), target, level: fc.constantFrom(...levels) }),
  recall: fc.record({ verb: fc.constant("recall"), target }),
  compress: fc.record({
    verb: fc.constant("compress"),
    target,
    level: fc.constantFrom("trimmed", "summarized", "minimal"),
  }),
  pin: fc.record({ verb: fc.constant("pin"), target, position: fc.constantFrom("top", "bottom") }),
  unpin: fc.record({ verb: fc.constant("unpin"), target }),
  focus: fc.record({ verb: fc.constant("focus"), target }),
  archive: fc.record({ verb: fc.constant("archive"), target, reason: anyText }),
  update: fc.record({ verb: fc.constant("update"), block: id, text: anyText }),
  create: fc.record({
    verb: fc.constant("create"),
    text: anyText,
    topic: fc.option(anyText.filter((text) => text.length <= 120)),
    supersedes: fc.option(id),
  }),
  diff: fc.record({ verb: fc.constant("diff"), since: fc.option(fc.nat()) }),
  manifest: fc.record({ verb: fc.constant("manifest"), detail: fc.constantFrom("summary", "detailed") }),
};

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(...Object.values(byVerb));

/** The longest of each kind: quotes double when they are written. */
export const longestCommands: readonly Command[] = [
  { verb: "update", block: 999_999_999_999_999, text: '"'.repeat(commandLimits.memoryCharsMax) },
  {
    verb: "create",
    text: "\n".repeat(commandLimits.memoryCharsMax - 1).concat("x"),
    topic: "\\".repeat(120),
    supersedes: 999_999_999_999_999,
  },
  {
    verb: "archive",
    target: Array.from({ length: commandLimits.pointersMax }, (_, at) =>
      at < commandLimits.topicsMax
        ? { by: "topic", words: '"'.repeat(commandLimits.topicCharsMax) }
        : { by: "message", first: 999_999_999_999_998, last: 999_999_999_999_999 },
    ),
    reason: '"'.repeat(500),
  },
];

/** Carries out the commands of an answer, as the host does. */
export type ExecuteCalls = (asked: CommandBatch) => ReturnType<typeof executeRecordedCalls>;
