import { describe, expect, test } from "vitest";
import { TestSession } from "../../../test/support/engine.ts";
import { type BlockId, must, ok, unwrap } from "../../base/index.ts";
import { parseCommand, type Reading } from "../../commands/index.ts";
import { archive, now, pin } from "../../engine/index.ts";
import { textBlock } from "../../protocols/index.ts";
import { openMemoryStore, type Store } from "../../store/index.ts";
import { readingText } from "./reading.ts";
import { StreamRecall } from "./stream-recall.ts";

const nonce = "k7f3";

/** Reads from a session as it stands; what its blocks say is the same for all. */
async function reads(session: TestSession, reading: Reading, said = ""): Promise<string> {
  const { state } = session;
  const store: Store = {
    ...openMemoryStore(),
    content: async () => ok(textBlock(said)),
    frames: async ({ after, limit }) => ok(session.frames.filter(({ seq }) => seq > after).slice(0, limit)),
  };
  const found = { recall: new StreamRecall(), needed: () => [] };
  const place = { state, moment: now(state), view: session.view(), store, windowOf: () => null, nonce };
  return await readingText({ ...place, ...found }, reading);
}

/** What an expansion shows, and the call it names for the rest. */
async function piece(session: TestSession, said: string, { block, from }: { block: BlockId; from: number }) {
  const text = await reads(session, { of: "blocks", blocks: [block], level: "original", from }, said);
  const [, shown, rest] = must(
    /^\[k7f3 recalled [^\n]*\]\n(.*)\n\[k7f3 end of #\d+(?:; the rest: ([^\]]*))?\]$/s.exec(text),
    "it is labelled",
  );
  const command = rest === undefined ? null : unwrap(parseCommand(`@${rest}`));
  return { shown: shown ?? "", next: command?.verb === "expand" ? (command.from ?? null) : null, text };
}

describe("what does not fit into one answer", () => {
  const lines = Array.from({ length: 5_000 }, (_, at) => `row ${at}`).join("\n");
  test.each([
    ["lines", lines],
    ["a single line", "wide ".repeat(12_000)],
    ["signs of two halves", "🜁".repeat(30_001)],
  ])("is read to its end by the calls that are named: %s", async (_, said) => {
    const session = new TestSession();
    const block = session.add({ kind: "tool-result", taint: "untrusted" });
    let [whole, from, answers] = ["", 0 as number | null, 0];
    while (from !== null && answers < 10) {
      const { shown, next } = await piece(session, said, { block, from });
      expect(shown.length).toBeLessThanOrEqual(24_000);
      [whole, from, answers] = [whole + shown, next, answers + 1];
    }
    expect([whole === said, answers > 1]).toEqual([true, true]);
  });

  test("begins again at a line, and says at which", async () => {
    const session = new TestSession();
    const block = session.add({ kind: "tool-result", taint: "untrusted" });
    const { next } = await piece(session, lines, { block, from: 0 });
    const { shown, text } = await piece(session, lines, { block, from: must(next, "there is more") });
    const [, line] = must(/: from line (\d+),/.exec(text), "it says where it begins");
    expect(shown.startsWith(`row ${Number(line) - 1}\n`)).toBe(true);
  });

  test("has an end beyond which there is nothing", async () => {
    const session = new TestSession();
    const block = session.add({ kind: "tool-result", taint: "untrusted" });
    expect(await piece(session, "short", { block, from: 99 })).toMatchObject({ shown: "", next: null });
    expect((await piece(session, "short", { block, from: 0 })).text).toContain("all of it");
  });
});

test("what changed is told up to now, however much has happened since", async () => {
  const session = new TestSession();
  const [first, second] = [session.add(), session.add()];
  session.turns(2);
  session.take(pin(session.by("user"), [first], "top"), "user");
  session.pass(4_500);
  session.take(unwrap(archive(session.by("model"), [second], "done")));
  const text = await reads(session, { of: "diff", since: 1 });
  expect(text).toContain(`user pinned #${first}`);
  expect(text).toContain(`you archived #${second} ("done")`);
});
