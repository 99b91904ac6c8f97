// Memories of the model: how they are replaced, and which archived blocks are offered again.
import { describe, expect, test } from "vitest";
import { must, unwrap } from "../../src/base/index.ts";
import { blockViewOf, factValue, now, viewBlocks } from "../../src/engine/moment/index.ts";
import type { ModelReply, ReplyBlock } from "../../src/testing/index.ts";
import { CommandKit } from "../support/command-kit.ts";

const text = (words: string): ReplyBlock => ({ type: "text", text: words });
const read: ReplyBlock = { type: "tool_use", name: "read", input: {} };
const own = (name: string, input: Record<string, string>): ReplyBlock => ({
  type: "tool_use",
  name: `aperture_${name}`,
  input,
});
const note = (words: string, more: Record<string, string> = {}) =>
  own("note", { verb: "create", text: words, ...more });

/** Long enough to be worth a placeholder. */
const page = [
  "The mill has 14 windows and two doors.",
  ...Array.from({ length: 240 }, (_, at) => `Row ${at} of ${at}.`),
].join("\n");

async function playTurns(
  replies: readonly ModelReply["content"][],
  prompts: readonly string[],
  result = page,
): Promise<CommandKit> {
  const script = [...replies];
  const kit = new CommandKit({ model: () => ({ content: script.shift() ?? [text("Nothing more.")] }) });
  for (const words of prompts) {
    // The cache has expired by then, so archived blocks are really removed.
    kit.clock.advance(2 * 60 * 60_000);
    await kit.say(words);
    await kit.results(result);
  }
  expect(kit.problems()).toEqual([]);
  return kit;
}

/** The memories in the order they were made, with their state. */
async function memories(kit: CommandKit) {
  const moment = now(await kit.state());
  const view = must(moment.state.views.get(1), "there is a view");
  return [...viewBlocks(moment, view)]
    .filter(({ kind }) => kind === "memory")
    .map(({ id }) => {
      const blockView = must(blockViewOf(moment, view, id), "it is in the view");
      return {
        id,
        isArchived: factValue(blockView, "archive") !== null,
        isOutdated: factValue(blockView, "supersession") !== null,
      };
    });
}

const timeout = "The upload timeout is 30 seconds and must not be raised.";

describe("a new memory", () => {
  test("archives an older one that it covers", async () => {
    const whole = "The upload timeout is 30 seconds and must not be raised. Retries are off.";
    const kit = await playTurns(
      [[note(timeout)], [text("Noted.")], [note(whole)], [text("Better.")]],
      ["a", "b"],
    );
    expect(await memories(kit)).toMatchObject([{ isArchived: true }, { isArchived: false }]);
  });

  test("keeps the older one if something would be lost, and tells the model what", async () => {
    const [first] = await memories(await playTurns([[note(timeout)], [text("Noted.")]], ["a"]));
    const id = `${must(first, "it was made").id}`;
    const less = [note("Uploads have a timeout.", { supersedes: id })];
    const kit = await playTurns([[note(timeout)], [text("Noted.")], less, [text("Hm.")]], ["a", "b"]);
    expect(await memories(kit)).toMatchObject([{ isArchived: false }, { isArchived: false }]);
    expect(must(kit.sent.at(-1), "it was sent").body).toContain(`#${id} stays as well`);
  });

  const update = own("note", {
    verb: "update",
    supersedes: "6",
    text: "The mill has 14 windows and two doors.",
  });
  const updating = [[read], [text("I see.")], [update], [text("Done.")]];

  test("archives a tool result that it covers on update, and the original stays stored", async () => {
    const result = "The mill has 14 windows.";
    const kit = await playTurns(updating, ["a", "b"], result);
    expect(await memories(kit)).toHaveLength(1);
    const { block, isArchived } = await resultSix(kit);
    expect(isArchived).toBe(true);
    const content = unwrap(await kit.store.content(block.content));
    expect(Buffer.from(must(content, "it is stored")).toString()).toContain(result);
  });

  test("keeps a tool result on update if something would be lost, and tells the model", async () => {
    const kit = await playTurns(updating, ["a", "b"]);
    expect(await memories(kit)).toHaveLength(1);
    expect((await resultSix(kit)).isArchived).toBe(false);
    expect(must(kit.sent.at(-1), "it was sent").body).toContain("#6 stays as well");
  });
});

async function resultSix(kit: CommandKit) {
  const moment = now(await kit.state());
  const { block } = must(moment.state.blocks.get(6), "it is in the log");
  expect(block.kind).toBe("tool-result");
  const view = must(moment.state.views.get(1), "there is a view");
  const blockView = must(blockViewOf(moment, view, block.id), "it is in the view");
  return { block, isArchived: factValue(blockView, "archive") !== null };
}

describe("a memory", () => {
  const afterwards = async (answer: string) =>
    await memories(await playTurns([[note(timeout)], [text("Noted.")], [text(answer)]], ["a", "b"]));

  test("that the model repeats is marked as outdated, and kept", async () => {
    expect(await afterwards(timeout)).toMatchObject([{ isOutdated: true, isArchived: false }]);
  });

  test("that the model contradicts is marked too, and the model reads that", async () => {
    const answer = "The upload timeout is 90 seconds and must not be raised.";
    expect(await afterwards(answer)).toMatchObject([{ isOutdated: true, isArchived: false }]);
    const kit = await playTurns(
      [[note(timeout)], [text("Noted.")], [text(answer)], [text("Yes.")]],
      ["a", "b", "c"],
    );
    expect(must(kit.sent.at(-1), "it was sent").body).toMatch(/#\d+ superseded by #\d+/);
  });

  test("that the model repeats stays visible, even in a new conversation", async () => {
    const kit = await playTurns([[note(timeout)], [text("Noted.")], [text(timeout)]], ["a", "b"]);
    const [{ id, isOutdated } = { id: 0, isOutdated: false }] = await memories(kit);
    expect([isOutdated, kit.wishes.at(-1)?.memories]).toEqual([
      true,
      [{ block: id, text: timeout, taint: "model" }],
    ]);
    kit.history = [];
    await kit.say("We have spoken of uploads.");
    expect(must(kit.sent.at(-1), "it was sent").body).toContain(`memory #${id}, yours: ${timeout}`);
  });

  test("that the model repeats can still be undone", async () => {
    const kit = await playTurns([[note(timeout)], [text("Noted.")], [text(timeout)]], ["a", "b"]);
    await kit.undo(await kit.lastStep());
    expect(await memories(kit)).toEqual([]);
  });

  test("that the model does not mention is not marked", async () => {
    expect(await afterwards("The mill has 14 windows.")).toMatchObject([{ isOutdated: false }]);
  });

  test("loses its outdated mark on undo", async () => {
    const kit = await playTurns([[note(timeout)], [text("Noted.")], [text(timeout)]], ["a", "b"]);
    const marks = (await kit.frames()).filter(({ cause }) => cause.reason === "the model says it again");
    const { step } = must(marks[0], "it was marked").cause;
    await kit.undo(must(step, "it is a step"));
    expect(await memories(kit)).toMatchObject([{ isOutdated: false }]);
  });
});

describe("archived blocks", () => {
  const archive = own("archive", { target: "6", reason: "read" });
  const begin = [[read], [text("I see.")], [archive], [text("Gone.")]];

  test("that match the user's words are offered by id during the run", async () => {
    const kit = await playTurns(
      [...begin, [read], [text("As I said.")], [text("Bye.")]],
      ["Look.", "Tidy up.", "How many windows and doors are there?"],
    );
    const bodies = kit.sent.map(({ body }) => body);
    expect(bodies.at(-1)).toContain("hint: archived and maybe relevant: #6 windows doors");
    expect(bodies.at(-2)).not.toContain("hint: archived");
    await kit.say("Thanks.");
    expect(newest(kit)).not.toContain("hint: archived");
  });

  test("are not offered if the user's words do not match, or nothing is archived", async () => {
    const other = ["Look.", "Tidy up.", "Please translate yesterday's letter carefully."];
    expect(newest(await playTurns([...begin, [read], [text("Done.")]], other))).not.toContain(
      "hint: archived",
    );
    const kept = [[read], [text("I see.")], [read], [text("Yes.")]];
    const prompts = ["Look.", "How many windows and doors are there?"];
    expect(newest(await playTurns(kept, prompts))).not.toContain("hint: archived");
  });
});

/** The end of the last body, because older notes stay in it. */
function newest(kit: CommandKit): string {
  const { body } = must(kit.sent.at(-1), "it was sent");
  return body.slice(body.lastIndexOf("CONTEXT MANIFEST"));
}
