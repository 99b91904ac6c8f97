// Content never becomes a command, whatever it says and wherever it stands.
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/base/index.ts";
import { CommandLineFilter, commandLines, isTainting } from "../../src/commands/index.ts";
import type { ModelReply } from "../../src/testing/index.ts";
import { CommandKit, kitNonce } from "../support/command-kit.ts";
import { type InjectedText, injectionCorpus } from "./injection/corpus.ts";

const corpus = injectionCorpus(kitNonce);
const isLong = process.env["APERTURE_TEST_LONG"] === "1";
/** Every second text of each disguise, alternating between disguises, and all other texts. */
const chosen = corpus.filter((_, at) => isLong || at >= 1_000 || (at + Math.floor(at / 30)) % 2 === 0);
const batchOf = 24;
const batches = Array.from({ length: Math.ceil(chosen.length / batchOf) }, (_, at) =>
  chosen.slice(at * batchOf, (at + 1) * batchOf),
);

test("the corpus is large and has many kinds", () => {
  expect(corpus.length).toBeGreaterThanOrEqual(1_100);
  expect(chosen.length).toBeGreaterThanOrEqual(600);
  expect(new Set(corpus.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(50);
});

/** A fence that nothing in the text closes. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `It says:\n${fence}\n${text}\n${fence}\nThat is all.`;
}

function quoted(text: string): string {
  return `It says:\n${text.replace(/^/gm, "> ")}\n\nThat is all.`;
}

async function expectNoCommand(kit: CommandKit): Promise<void> {
  expect(kit.problems()).toEqual([]);
  expect(kit.recorder.counts()).toMatchObject({ gaps: 0, unread: 0 });
  const acted = (await kit.frames()).filter(
    ({ cause, actor }) => cause.type === "command" || actor === "user",
  );
  expect(acted).toEqual([]);
  expect((await kit.state()).approvals.size).toBe(0);
}

describe.each(batches.map((batch, at) => [at, batch] as const))("batch %i", (at, batch) => {
  const isStreamed = at % 4 !== 3;

  test("in user, tool, quoted model and plain model texts: no command", async () => {
    const replies: ModelReply["content"][] = [];
    const kit = new CommandKit({ model: () => ({ content: replies.shift() ?? [] }), isStreamed });
    for (const [n, { text }] of batch.entries()) {
      const quote = n % 2 === 0 ? fenced(text) : quoted(text);
      replies.push([
        { type: "text", text: quote },
        { type: "tool_use", name: "read", input: { path: text } },
      ]);
      replies.push([{ type: "text", text: text.trim() === "" ? `"${text}"` : text }]);
      await kit.say(text.trim() === "" ? `"${text}"` : text);
      await kit.results(n % 2 === 0 ? text : [{ type: "text", text: `${text}.` }]);
    }
    expect(replies).toEqual([]);
    expect(kit.sent).toHaveLength(batch.length * 2);
    await expectNoCommand(kit);
  });

  test("in the system prompt: no command", async () => {
    const system = batch.map(({ text }) => ({ type: "text", text: `Words of the day: ${text}` }));
    const kit = new CommandKit({
      model: () => ({ content: [{ type: "text", text: "Yes." }] }),
      isStreamed,
      system,
    });
    await kit.say("Are you there?");
    await kit.say("And now?");
    expect(kit.sent).toHaveLength(2);
    await expectNoCommand(kit);
  });
});

describe("in text mode", () => {
  const found = (text: string): number => commandLines(text, kitNonce).length;
  const wrong = (count: (one: InjectedText) => number, isWanted: (one: InjectedText) => boolean) =>
    corpus.filter((one) => count(one) !== (isWanted(one) ? 1 : 0)).map(({ kind, text }) => [kind, text]);

  test("a line counts only with the nonce, alone, outside code and quotes", () => {
    expect(corpus.filter(({ isLine }) => isLine).length).toBeGreaterThanOrEqual(40);
    expect(
      wrong(
        ({ text }) => found(text),
        ({ isLine }) => isLine,
      ),
    ).toEqual([]);
  });

  test("fenced, quoted or indented lines do not count", () => {
    expect(
      wrong(
        ({ text }) => found(fenced(text)),
        () => false,
      ),
    ).toEqual([]);
    expect(
      wrong(
        ({ text }) => found(quoted(text)),
        () => false,
      ),
    ).toEqual([]);
    expect(
      wrong(
        ({ text }) => found(text.replace(/^/gm, "It says ")),
        () => false,
      ),
    ).toEqual([]);
    expect(
      wrong(
        ({ text }) => found(text.replace(/^/gm, " ")),
        () => false,
      ),
    ).toEqual([]);
  });

  test("lines with another session's nonce do not count", () => {
    expect(corpus.filter(({ text }) => commandLines(text, "w3b8").length > 0)).toEqual([]);
  });

  test("the result does not depend on how the text is cut into pieces", () => {
    const random = seededRandom(7);
    for (const { text, isLine, kind } of corpus) {
      const hold = new CommandLineFilter(kitNonce);
      const passed: string[] = [];
      let commands = 0;
      for (let from = 0; from < text.length; ) {
        const to = from + 1 + random.below(Math.max(8, text.length / 40));
        const sifted = hold.push(text.slice(from, to));
        passed.push(sifted.passed);
        commands += sifted.commands.length;
        from = to;
      }
      const rest = hold.end();
      expect([kind, commands + rest.commands.length]).toEqual([kind, isLine ? 1 : 0]);
      if (!isLine) expect(passed.join("") + rest.passed).toBe(text);
    }
  });
});

test("text that visibly speaks of commands taints its turn", () => {
  const missed = corpus.filter(({ text, speaks }) => speaks && !isTainting(text, kitNonce));
  expect(missed.map(({ kind, text }) => [kind, text.slice(0, 80)])).toEqual([]);
  const wrongly = corpus.filter(({ kind, text }) => kind.startsWith("a ") && isTainting(text, kitNonce));
  expect(wrongly).toEqual([]);
});
