import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Random, seededRandom, unwrap } from "../../src/base/index.ts";
import {
  type Command,
  CommandLineFilter,
  commandFromCall,
  commandLines,
  commandTools,
  isTainting,
  noCommands,
  parseCommand,
  parseTarget,
  printCommand,
  type Target,
  verbs,
} from "../../src/commands/index.ts";
import { proposeCommand } from "../../src/commands/propose.ts";
import type { FilteredText } from "../../src/commands/text-commands.ts";
import { factNames } from "../../src/engine/frames/index.ts";
import { isWithheld } from "../../src/engine/moment/index.ts";
import { anyCommand, anyText } from "../support/any-command.ts";
import { TestSession } from "../support/engine.ts";
import { intents, live } from "../support/random-session.ts";
import { isLong, numRuns } from "../support/runs.ts";

const nonce = "k7f3";
const tries = { numRuns: isLong ? 100_000 : 2_000 };
const randomTexts = isLong ? 100_000 : 10_000;
const seed = fc.readConfigureGlobal().seed ?? 1;

/** A command with a few characters lost, doubled, swapped or added, as a model may write it. */
const mutatedCommand = fc
  .tuple(
    anyCommand,
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.string({ maxLength: 4 })), { maxLength: 4 }),
  )
  .map(([command, slips]) =>
    slips.reduce((text, [where, how, sign]) => {
      const at = where % (text.length + 1);
      return text.slice(0, at) + sign + text.slice(how === 0 ? at : at + how - 1);
    }, printCommand(command)),
  );
const signList: readonly string[] = [
  ...`@()[]"'\\,:=#.- \n\t`,
  ...verbs,
  ...["block-", "message-", "..", "27", "level", "from", "“", "”"],
];
const signs = fc.constantFrom(...signList);
const anyString = fc.oneof(
  mutatedCommand,
  fc.array(signs, { maxLength: 60 }).map((list) => `@${list.join("")}`),
  fc.tuple(fc.constantFrom(...verbs), anyText).map(([verb, text]) => `@${verb}(${text})`),
  fc.string({ unit: "binary", maxLength: 400 }),
  // Long runs of one character make a careless pattern slow.
  fc
    .tuple(fc.constantFrom(...verbs), signs, fc.nat({ max: 6_000 }))
    .map(
      ([verb, sign, count]) => `@${verb}(${sign.repeat(Math.min(count, Math.floor(19_000 / sign.length)))})`,
    ),
);

/** Every parser that reads a text. */
function parsersOf(text: string, name: string): readonly (() => unknown)[] {
  return [
    () => parseCommand(text),
    () => parseTarget(text),
    () => commandFromCall(name, { verb: text, target: text, text, reason: text, since: text, from: text }),
    () => commandLines(`${text.replaceAll("\n", " ")} ${nonce}\n`, nonce),
    () => isTainting(text, nonce),
  ];
}

/** Texts of the same sorts as `anyString`, but cheaper to make, since fast-check does not shrink them. */
function randomText(random: Random, commands: readonly string[]): string {
  const sort = random.below(100);
  const some = (max: number) => Array.from({ length: random.below(max) }, () => random.pick(signList));
  if (sort < 45) return withTypos(random, random.pick(commands));
  if (sort < 70) return `@${some(60).join("")}`;
  if (sort < 85) return `@${random.pick(verbs)}(${some(40).join("")})`;
  if (sort < 99) return String.fromCodePoint(...some(120).map(() => random.below(0xd800)));
  const sign = random.pick(signList);
  const count = Math.min(random.below(6_000), Math.floor(19_000 / sign.length));
  return `@${random.pick(verbs)}(${sign.repeat(count)})`;
}

function withTypos(random: Random, command: string): string {
  let text = command;
  for (let slips = random.below(5); slips > 0; slips -= 1) {
    const at = random.below(text.length + 1);
    text = text.slice(0, at) + random.pick(["", ...signList]) + text.slice(at + random.below(3));
  }
  return text;
}

describe("any text written as a command", () => {
  it(`is read or refused in ${randomTexts} random strings`, () => {
    const random = seededRandom(seed);
    const sampled = fc.sample(anyCommand, { numRuns: 2_000, seed });
    const commands = sampled.map(printCommand).filter(({ length }) => length < 2_000);
    let [read, refused] = [0, 0];
    for (let made = 0; made < randomTexts; made += 1) {
      const text = randomText(random, commands);
      const { name } = random.pick(commandTools);
      const result = parseCommand(text);
      if (result.ok) read += 1;
      else refused += 1;
      // Asserting costs more than parsing, so only failures are asserted.
      if (!result.ok && result.error.code !== "AP_COMMAND_INVALID") expect([text, result.error]).toEqual([]);
      for (const act of parsersOf(text, name)) act();
    }
    expect(Math.min(read, refused)).toBeGreaterThan(randomTexts / 10);
  });

  it("is read or refused, without throwing", () => {
    let [read, refused] = [0, 0];
    fc.assert(
      fc.property(anyString, fc.constantFrom(...commandTools), (text, { name }) => {
        const result = parseCommand(text);
        if (result.ok) {
          read += 1;
          expect(parseCommand(printCommand(result.value))).toEqual(result);
        } else {
          refused += 1;
          expect(result.error.code).toBe("AP_COMMAND_INVALID");
          expect(result.error.message).not.toMatch(/\n|undefined|\{problem\}/);
          expect(result.error.message.length).toBeLessThan(260);
        }
        for (const act of parsersOf(text, name)) act();
      }),
      tries,
    );
    expect(Math.min(read, refused)).toBeGreaterThan(tries.numRuns / 10);
  });

  it("acts only with the mark, and passes otherwise, however it is split", () => {
    fc.assert(
      fc.property(anyString, fc.integer({ min: 1, max: 9 }), (text, size) => {
        const hold = new CommandLineFilter("zz99");
        const sifted: FilteredText[] = [];
        for (let at = 0; at < text.length; at += size) sifted.push(hold.push(text.slice(at, at + size)));
        sifted.push(hold.end());
        expect(sifted.flatMap(({ commands }) => commands)).toEqual([]);
        expect(sifted.map(({ passed }) => passed).join("")).toBe(text);
      }),
      { numRuns: isLong ? 20_000 : 500 },
    );
  });
});

const small = fc.integer({ min: 1, max: 40 });
const smallTarget: fc.Arbitrary<Target> = fc
  .oneof(
    fc.tuple(small, small).map(([first, last]) => `${first}..${last}`),
    fc.constantFrom("primacy", "middle", "recency", "cold", "stale"),
  )
  .map((text) => unwrap(parseTarget(text)));
/** Commands about blocks that a short session is likely to have. */
const smallCommand: fc.Arbitrary<Command> = fc
  .tuple(anyCommand, smallTarget, small)
  .map(([command, target, block]) =>
    "target" in command
      ? { ...command, target }
      : command.verb === "update"
        ? { ...command, block }
        : command,
  );

const longer = fc.array(intents(60), { minLength: 4, maxLength: 4 }).map((lists) => lists.flat());

describe("any command of a model, in any session", () => {
  it("proposes deltas that fit, changes no fact of the user, and reads nothing withheld", () => {
    let [changes, left] = [0, 0];
    fc.assert(
      fc.property(longer, fc.array(smallCommand, { minLength: 4, maxLength: 12 }), (list, commands) => {
        const { states } = live(list);
        const session = new TestSession();
        session.state = states.at(-1) ?? session.state;
        let acts = noCommands;
        for (const command of commands) {
          const change = session.by("model");
          const proposed = proposeCommand(change, command, {
            findByTopic: () => [],
            mode: "auto",
            isTainted: false,
            permissions: [],
            history: acts,
            windowTokens: 1_000_000,
            countTokens: (text) => text.length,
            isInPlace: false,
          });
          acts = proposed.history;
          for (const delta of proposed.deltas) {
            expect(factNames.map((fact) => `${fact}-set`)).toContain(delta.type);
            if (
              "from" in delta &&
              typeof delta.from === "object" &&
              delta.from !== null &&
              "by" in delta.from
            ) {
              expect(delta.from.by).not.toBe("user");
            }
          }
          const read = proposed.lookups.flatMap((reading) => (reading.of === "blocks" ? reading.blocks : []));
          expect(read.filter((id) => isWithheld(session.place(id)))).toEqual([]);
          if (proposed.refused !== null) expect(proposed.deltas).toEqual([]);
          changes += proposed.deltas.length;
          left += proposed.skipped.length;
          session.take(proposed);
        }
      }),
      numRuns(100),
    );
    expect(Math.min(changes, left)).toBeGreaterThan(200);
  });
});
