// What the model notes down, what replaces it, and what it is offered again.
import { describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { blocksOf, factValue, now, placeOf } from "../../src/engine/index.ts";
import type { Reply, ReplyBlock } from "../../src/testing/index.ts";
import { HandsKit } from "../support/hands-kit.ts";

const text = (words: string): ReplyBlock => ({ type: "text", text: words });
const read: ReplyBlock = { type: "tool_use", name: "read", input: {} };
const own = (name: string, input: Record<string, string>): ReplyBlock => ({
  type: "tool_use",
  name: `aperture_${name}`,
  input,
});
const note = (words: string, more: Record<string, string> = {}) =>
  own("note", { verb: "create", text: words, ...more });

/** Long enough that leaving it out is worth a line. */
const page = [
  "The mill has 14 windows and two doors.",
  ...Array.from({ length: 240 }, (_, at) => `Row ${at} of ${at}.`),
].join("\n");

async function told(replies: readonly Reply["content"][], says: readonly string[]): Promise<HandsKit> {
  const script = [...replies];
  const kit = new HandsKit({ model: () => ({ content: script.shift() ?? [text("Nothing more.")] }) });
  for (const words of says) {
    // By then nothing is cached any more, so what was archived is really gone.
    kit.clock.advance(2 * 60 * 60_000);
    await kit.say(words);
    await kit.results(page);
  }
  expect(kit.problems()).toEqual([]);
  return kit;
}

/** The memories in the order they were made: archived, and by what they are outdated. */
async function memories(kit: HandsKit) {
  const moment = now(await kit.state());
  const view = must(moment.state.views.get(1), "there is a view");
  return [...blocksOf(moment, view)]
    .filter(({ kind }) => kind === "memory")
    .map(({ id }) => {
      const place = must(placeOf(moment, view, id), "it is in the view");
      return {
        id,
        isArchived: factValue(place, "archive") !== null,
        isOutdated: factValue(place, "supersession") !== null,
      };
    });
}

const timeout = "The upload timeout is 30 seconds and must not be raised.";

describe("a memory that is said anew", () => {
  test("archives the older one if it says all of it", async () => {
    const whole = "The upload timeout is 30 seconds and must not be raised. Retries are off.";
    const kit = await told([[note(timeout)], [text("Noted.")], [note(whole)], [text("Better.")]], ["a", "b"]);
    expect(await memories(kit)).toMatchObject([{ isArchived: true }, { isArchived: false }]);
  });

  test("stays beside it if something would be lost, and the model is told what", async () => {
    const [first] = await memories(await told([[note(timeout)], [text("Noted.")]], ["a"]));
    const id = `${must(first, "it was made").id}`;
    const less = [note("Uploads have a timeout.", { supersedes: id })];
    const kit = await told([[note(timeout)], [text("Noted.")], less, [text("Hm.")]], ["a", "b"]);
    expect(await memories(kit)).toMatchObject([{ isArchived: false }, { isArchived: false }]);
    expect(must(kit.sent.at(-1), "it was sent").body).toContain(`#${id} stays as well`);
  });

  test("update of what a tool said makes a memory that stands for it, and the original stays", async () => {
    const update = own("note", {
      verb: "update",
      supersedes: "6",
      text: "The mill has 14 windows and two doors.",
    });
    const kit = await told([[read], [text("I see.")], [update], [text("Done.")]], ["a", "b"]);
    expect(await memories(kit)).toHaveLength(1);
    const { blocks } = await kit.state();
    expect(blocks.get(6)?.block.kind).toBe("tool-result");
  });
});

describe("a memory that the model", () => {
  const afterwards = async (answer: string) =>
    await memories(await told([[note(timeout)], [text("Noted.")], [text(answer)]], ["a", "b"]));

  test("says again is marked as outdated, and kept", async () => {
    expect(await afterwards(timeout)).toMatchObject([{ isOutdated: true, isArchived: false }]);
  });

  test("contradicts is marked too, and the model hears of it", async () => {
    const answer = "The upload timeout is 90 seconds and must not be raised.";
    expect(await afterwards(answer)).toMatchObject([{ isOutdated: true, isArchived: false }]);
    const kit = await told(
      [[note(timeout)], [text("Noted.")], [text(answer)], [text("Yes.")]],
      ["a", "b", "c"],
    );
    expect(must(kit.sent.at(-1), "it was sent").body).toMatch(/#\d+ superseded by #\d+/);
  });

  test("says again stays in sight, also where the client has begun anew", async () => {
    const kit = await told([[note(timeout)], [text("Noted.")], [text(timeout)]], ["a", "b"]);
    const [{ id, isOutdated } = { id: 0, isOutdated: false }] = await memories(kit);
    expect([isOutdated, kit.briefings.at(-1)?.memories]).toEqual([
      true,
      [{ block: id, text: timeout, taint: "model" }],
    ]);
    kit.history = [];
    await kit.say("We have spoken of uploads.");
    expect(must(kit.sent.at(-1), "it was sent").body).toContain(`memory #${id}, yours: ${timeout}`);
  });

  test("says again is not out of reach of an undo", async () => {
    const kit = await told([[note(timeout)], [text("Noted.")], [text(timeout)]], ["a", "b"]);
    await kit.undo(await kit.lastStep());
    expect(await memories(kit)).toEqual([]);
  });

  test("does not speak of is left alone", async () => {
    expect(await afterwards("The mill has 14 windows.")).toMatchObject([{ isOutdated: false }]);
  });

  test("and the mark can be taken back", async () => {
    const kit = await told([[note(timeout)], [text("Noted.")], [text(timeout)]], ["a", "b"]);
    const marks = (await kit.frames()).filter(({ cause }) => cause.reason === "the model says it again");
    const { step } = must(marks[0], "it was marked").cause;
    await kit.undo(must(step, "it is a step"));
    expect(await memories(kit)).toMatchObject([{ isOutdated: false }]);
  });
});

describe("archived blocks", () => {
  const archive = own("archive", { target: "6", reason: "read" });
  const begin = [[read], [text("I see.")], [archive], [text("Gone.")]];

  test("that the user's words ask for are offered by id while the run goes on, in the user's own words", async () => {
    const kit = await told(
      [...begin, [read], [text("As I said.")], [text("Bye.")]],
      ["Look.", "Tidy up.", "How many windows and doors are there?"],
    );
    const bodies = kit.sent.map(({ body }) => body);
    expect(bodies.at(-1)).toContain("hint: archived and maybe relevant: #6 windows doors");
    expect(bodies.at(-2)).not.toContain("hint: archived");
    await kit.say("Thanks.");
    expect(newest(kit)).not.toContain("hint: archived");
  });

  test("are not offered where the user speaks of something else, nor where nothing is archived", async () => {
    const other = ["Look.", "Tidy up.", "Please translate yesterday's letter carefully."];
    expect(newest(await told([...begin, [read], [text("Done.")]], other))).not.toContain("hint: archived");
    const kept = [[read], [text("I see.")], [read], [text("Yes.")]];
    const asked = ["Look.", "How many windows and doors are there?"];
    expect(newest(await told(kept, asked))).not.toContain("hint: archived");
  });
});

/** What the last body says at its end: what is older stays where it is. */
function newest(kit: HandsKit): string {
  const { body } = must(kit.sent.at(-1), "it was sent");
  return body.slice(body.lastIndexOf("CONTEXT MANIFEST"));
}
