// A fault around a command costs at most that command, and nothing is executed twice.
import { describe, expect, test } from "vitest";
import { must, unwrap } from "../../src/base/index.ts";
import type { Delta } from "../../src/engine/frames/index.ts";
import type { CommandBatch } from "../../src/exchange/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import type { ModelReply, ReplyBlock } from "../../src/testing/index.ts";
import { CommandKit, type CommandKitOptions } from "../support/command-kit.ts";

const text = (words: string): ReplyBlock => ({ type: "text", text: words });
const read: ReplyBlock = { type: "tool_use", name: "read", input: {} };
const own = (name: string, input: Record<string, unknown>): ReplyBlock =>
  ({ type: "tool_use", name: `aperture_${name}`, input }) as ReplyBlock;
const pinFive = own("manage", { verb: "pin", target: "5" });

/** Starts a session in which the model has read one file; `replies` are its next answers. */
async function startSession(
  replies: ModelReply["content"][],
  options: Partial<CommandKitOptions> = {},
): Promise<CommandKit> {
  const script = [[text("I look."), read], [text("So it is.")], ...replies];
  const model = () => ({ content: script.shift() ?? [text("Nothing more.")] });
  const kit = new CommandKit({ isStreamed: true, ...options, model });
  await kit.say("Read the file.");
  await kit.results("a file of some lines");
  return kit;
}

/** The types of the deltas that the model's commands appended. */
async function commandDeltas(kit: CommandKit): Promise<readonly Delta["type"][]> {
  const frames = await kit.commandFrames();
  return frames
    .filter(({ actor }) => actor === "model")
    .flatMap(({ deltas }) => deltas.map(({ type }) => type));
}

const pinned = ["pin-set", "pin-set", "pin-set"];

describe("a bad or invented command", () => {
  const bad: readonly [string, Record<string, unknown>][] = [
    ["archive", { target: "999", reason: "gone" }],
    ["archive", { target: "5" }],
    ["archive", {}],
    ["manage", { verb: "explode", target: "5" }],
    ["manage", { verb: "compress", target: "5", level: "tiny" }],
    ["manage", { verb: ["pin"], target: { block: 5 } }],
    ["manage", { target: "5" }],
    ["note", { verb: "create", text: "" }],
    ["note", { verb: "update", text: "no part is named" }],
    ["read", { verb: "expand", target: "block-0" }],
    ["read", { verb: "recall", target: 17.5 }],
    ["update", { block: "5" }],
  ];

  test.each(bad)("changes nothing and gets an error: %s %j", async (name, input) => {
    const kit = await startSession([[own(name, input)], [text("I see.")]]);
    const { rounds } = await kit.say("Go on.");
    expect(rounds).toHaveLength(1);
    expect(kit.problems()).toEqual([]);
    expect(await commandDeltas(kit)).toEqual([]);
    expect(rounds[0]?.body).toContain('"is_error":true');
  });

  test("three in a row get one reminder, and there is no loop", async () => {
    const again = [own("archive", { target: "999", reason: "gone" })];
    const kit = await startSession([again, again, again, again, again, again, again]);
    const { rounds } = await kit.say("Go on.");
    expect(rounds).toHaveLength(4);
    await kit.say("And now?");
    const body = must(kit.sent.at(-1), "it was sent").body;
    expect(body.split("Three commands in a row failed").length - 1).toBe(1);
    expect(kit.problems()).toEqual([]);
  });
});

describe("a repeated answer or request", () => {
  test("a batch that is executed again keeps its first result", async () => {
    const kit = await startSession([[pinFive], [text("Good.")]]);
    const batches: CommandBatch[] = [];
    const command = kit.command;
    kit.command = (batch) => {
      batches.push(batch);
      return command(batch);
    };
    await kit.say("Go on.");
    const results = unwrap(await command(must(batches[0], "something was asked")));
    expect(results[0]?.text).toContain("#5, #6, #7 pinned.");
    expect(batches).toHaveLength(1);
    expect(await commandDeltas(kit)).toEqual(pinned);
  });

  test("after a lost answer only the retry counts", async () => {
    const kit = await startSession([[pinFive], [pinFive], [text("Good.")]]);
    await kit.say("Go on.", { isLost: true });
    expect(await commandDeltas(kit)).toEqual([]);
    await kit.say("Go on.");
    expect(await commandDeltas(kit)).toEqual(pinned);
    expect(kit.problems()).toEqual([]);
  });

  test("of two identical requests at once, the second changes nothing", async () => {
    const note = own("note", { verb: "create", text: "The file has some lines." });
    const kit = await startSession([[pinFive, note], [pinFive, note], [text("One.")], [text("Two.")]]);
    await Promise.all([kit.say("Go on."), kit.say("Go on.")]);
    expect(kit.problems()).toEqual([]);
    const types = await commandDeltas(kit);
    expect(types.filter((type) => type === "pin-set")).toEqual(pinned);
    expect(types.filter((type) => type === "block-added")).toHaveLength(1);
  });
});

describe("an incomplete answer", () => {
  test("executes nothing if the client leaves before its end", async () => {
    for (let chunksRead = 1; chunksRead <= 11; chunksRead += 1) {
      const kit = await startSession([[text("I pin it."), pinFive]]);
      const { answer } = await kit.say("Go on.", { heard: chunksRead });
      expect(chunksRead).toBeLessThan(answer.chunks.length);
      expect(await commandDeltas(kit)).toEqual([]);
    }
  });

  const damages: readonly [string, (event: string) => string][] = [
    ["no JSON", (event) => event.replace('":', '"')],
    ["half an event", (event) => `${event.slice(0, event.length / 2)}\n\n`],
    ["an error in between", (event) => `event: error\ndata: {"type":"error","error":{}}\n\n${event}`],
    ["a delta of nothing", (event) => `data: {"type":"content_block_delta"\n\n${event}`],
  ];

  test.each(damages)("executes nothing with malformed events at any position: %s", async (_, spoil) => {
    const broad = own("manage", { verb: "pin", target: "4..5, 6..7" });
    for (let at = 0; ; at += 1) {
      const kit = await startSession([[text("I pin it."), broad]]);
      let count = 0;
      await kit.say("Go on.", {
        damage: (chunks) => {
          count = chunks.length;
          return chunks.map((chunk, n) => (n === at ? Buffer.from(spoil(chunk.toString())) : chunk));
        },
      });
      if (at >= count) break;
      expect([at, await commandDeltas(kit)]).toEqual([at, []]);
      await kit.say("And now?");
      expect(kit.problems()).toEqual([]);
    }
  });
});

describe("the executor fails", () => {
  test("killed between answer and command: the next process tells the model", async () => {
    const kit = await startSession([[pinFive, read], [text("Good.")]], { commandMs: 50 });
    kit.command = () => new Promise(() => undefined);
    await kit.say("Go on.");
    kit.restart();
    await kit.results("another file");
    expect(kit.problems()).toEqual([]);
    expect(await commandDeltas(kit)).toEqual([]);
    expect(must(kit.sent.at(-1), "it was sent").body).toContain("has not carried this out in time");
  });

  test("its store is closed: the model is told, the client gets its answer", async () => {
    const store = openMemoryStore();
    const kit = await startSession([[pinFive], [text("Good.")], [text("Yes.")]], { store });
    await store.close();
    await kit.say("Go on.");
    await kit.say("And now?");
    expect(kit.problems()).toEqual([]);
    expect(JSON.stringify(kit.history)).toContain("Good.");
    expect(must(kit.sent.at(-1), "it was sent").body).toContain("records cannot be reached");
  });

  test("it hangs: the wait is short, and the client notices nothing", async () => {
    const kit = await startSession([[pinFive], [text("Good.")], [text("Yes.")]], { commandMs: 50 });
    kit.command = () => new Promise(() => undefined);
    const { rounds } = await kit.say("Go on.");
    expect(rounds[0]?.body).toContain("has not carried this out in time");
    expect(JSON.stringify(kit.history.at(-1))).toContain("Good.");
    expect(JSON.stringify(kit.history)).not.toContain("aperture");
    expect(kit.problems()).toEqual([]);
  });
});

test("many requests of one session at once: each command is executed once, in one order", async () => {
  const notes = Array.from({ length: 4 }, (_, at) =>
    own("note", { verb: "create", text: `Note ${at}: shelf ${at} holds ${at * 7} books.` }),
  );
  const kit = await startSession(notes.map((note) => [note]));
  await Promise.all(notes.map((_, at) => kit.say(`Go on with ${at}.`)));
  expect(kit.problems()).toEqual([]);
  const added = (await kit.commandFrames()).flatMap(({ deltas }) =>
    deltas.flatMap((delta) => (delta.type === "block-added" ? [delta.block.id] : [])),
  );
  expect(new Set(added).size).toBe(notes.length);
  const seqs = (await kit.frames()).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
});
