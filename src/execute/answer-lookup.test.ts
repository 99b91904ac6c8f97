import { describe, expect, test } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { type BlockId, must, ok, unwrap } from "../base/index.ts";
import { type Lookup, parseCommand } from "../commands/index.ts";
import { changes } from "../engine/index.ts";
import { now } from "../engine/moment/index.ts";
import { protocolOf } from "../protocols/index.ts";
import { StreamRecall } from "../recorder/index.ts";
import { openMemoryStore, type Store } from "../store/index.ts";
import { answerLookup } from "./answer-lookup.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const textBlock = anthropic.write.text;

const nonce = "k7f3";

/** Answers a lookup in a session whose blocks all have the same content. */
async function lookUp(session: TestSession, lookup: Lookup, content = ""): Promise<string> {
  const { state } = session;
  const store: Store = {
    ...openMemoryStore(),
    content: async () => ok(textBlock(content)),
    frames: async ({ after, limit }) => ok(session.frames.filter(({ seq }) => seq > after).slice(0, limit)),
  };
  const recallDeps = { recall: new StreamRecall(), needed: () => [] };
  const lookupDeps = { state, moment: now(state), view: session.view(), store, windowOf: () => null, nonce };
  return await answerLookup({ ...lookupDeps, ...recallDeps }, lookup);
}

/** The text of an expansion, and the offset in the call it names for the rest. */
async function piece(
  session: TestSession,
  content: string,
  { block, from }: { block: BlockId; from: number },
) {
  const text = await lookUp(session, { of: "blocks", blocks: [block], level: "original", from }, content);
  const [, shown, rest] = must(
    /^\[k7f3 recalled [^\n]*\]\n(.*)\n\[k7f3 end of #\d+(?:; the rest: ([^\]]*))?\]$/s.exec(text),
    "it is labelled",
  );
  const command = rest === undefined ? null : unwrap(parseCommand(`@${rest}`));
  return { shown: shown ?? "", next: command?.verb === "expand" ? (command.from ?? null) : null, text };
}

describe("content that does not fit into one answer", () => {
  const lines = Array.from({ length: 5_000 }, (_, at) => `row ${at}`).join("\n");
  test.each([
    ["lines", lines],
    ["a single line", "wide ".repeat(12_000)],
    ["surrogate pairs", "🜁".repeat(30_001)],
  ])("is read completely by following the named calls: %s", async (_, content) => {
    const session = new TestSession();
    const block = session.add({ kind: "tool-result", taint: "untrusted" });
    let [whole, from, answers] = ["", 0 as number | null, 0];
    while (from !== null && answers < 10) {
      const { shown, next } = await piece(session, content, { block, from });
      expect(shown.length).toBeLessThanOrEqual(24_000);
      [whole, from, answers] = [whole + shown, next, answers + 1];
    }
    expect([whole === content, answers > 1]).toEqual([true, true]);
  });

  test("continues at a line and names its number", async () => {
    const session = new TestSession();
    const block = session.add({ kind: "tool-result", taint: "untrusted" });
    const { next } = await piece(session, lines, { block, from: 0 });
    const { shown, text } = await piece(session, lines, { block, from: must(next, "there is more") });
    const [, line] = must(/: from line (\d+),/.exec(text), "it says where it begins");
    expect(shown.startsWith(`row ${Number(line) - 1}\n`)).toBe(true);
  });

  test("has nothing beyond its end", async () => {
    const session = new TestSession();
    const block = session.add({ kind: "tool-result", taint: "untrusted" });
    expect(await piece(session, "short", { block, from: 99 })).toMatchObject({ shown: "", next: null });
    expect((await piece(session, "short", { block, from: 0 })).text).toContain("all of it");
  });
});

test("a diff lists changes up to now, even after thousands of frames", async () => {
  const session = new TestSession();
  const [first, second] = [session.add(), session.add()];
  session.turns(2);
  session.take(changes.pin(session.by("user"), [first], "top"), "user");
  session.pass(4_500);
  session.take(unwrap(changes.archive(session.by("model"), [second], "done")));
  const text = await lookUp(session, { of: "diff", since: 1 });
  expect(text).toContain(`user pinned #${first}`);
  expect(text).toContain(`you archived #${second} ("done")`);
});
