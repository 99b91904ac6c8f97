// What goes wrong around a command costs the command at most, and nothing is done twice.
import { describe, expect, test } from "vitest";
import { must, unwrap } from "../../src/base/index.ts";
import type { Delta } from "../../src/engine/index.ts";
import type { SessionRecorder } from "../../src/session/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import type { Reply, ReplyBlock } from "../../src/testing/index.ts";
import { HandsKit, type HandsOptions } from "../support/hands-kit.ts";

const text = (words: string): ReplyBlock => ({ type: "text", text: words });
const read: ReplyBlock = { type: "tool_use", name: "read", input: {} };
const own = (name: string, input: Record<string, unknown>): ReplyBlock =>
  ({ type: "tool_use", name: `aperture_${name}`, input }) as ReplyBlock;
const pinFive = own("manage", { verb: "pin", target: "5" });

/** A session in which the model has read one file; what it says after that is given. */
async function begun(replies: Reply["content"][], options: Partial<HandsOptions> = {}): Promise<HandsKit> {
  const script = [[text("I look."), read], [text("So it is.")], ...replies];
  const model = () => ({ content: script.shift() ?? [text("Nothing more.")] });
  const kit = new HandsKit({ isStreamed: true, ...options, model });
  await kit.say("Read the file.");
  await kit.results("a file of some lines");
  return kit;
}

/** What the model has done: the deltas of its commands. */
async function done(kit: HandsKit): Promise<readonly Delta["type"][]> {
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

  test.each(bad)("changes nothing and is told what is wrong: %s %j", async (name, input) => {
    const kit = await begun([[own(name, input)], [text("I see.")]]);
    const { rounds } = await kit.say("Go on.");
    expect(rounds).toHaveLength(1);
    expect(kit.problems()).toEqual([]);
    expect(await done(kit)).toEqual([]);
    expect(rounds[0]?.body).toContain('"is_error":true');
  });

  test("three in a row are followed by one reminder, and there is no loop", async () => {
    const again = [own("archive", { target: "999", reason: "gone" })];
    const kit = await begun([again, again, again, again, again, again, again]);
    const { rounds } = await kit.say("Go on.");
    expect(rounds).toHaveLength(4);
    await kit.say("And now?");
    const body = must(kit.sent.at(-1), "it was sent").body;
    expect(body.split("Three commands in a row failed").length - 1).toBe(1);
    expect(kit.problems()).toEqual([]);
  });
});

describe("what is heard twice", () => {
  test("is done once: the same answer, told to the desk and to the log again", async () => {
    const kit = await begun([[pinFive], [text("Good.")]]);
    const asked: Parameters<SessionRecorder["command"]>[0][] = [];
    const command = kit.recorder.command.bind(kit.recorder);
    kit.recorder.command = (one) => {
      asked.push(one);
      return command(one);
    };
    await kit.say("Go on.");
    const told = unwrap(await command(must(asked[0], "something was asked")));
    expect(told[0]?.text).toContain("#5, #6, #7 pinned.");
    expect(asked).toHaveLength(1);
    expect(await done(kit)).toEqual(pinned);
  });

  test("a retry after an answer that was not heard: only what was heard counts", async () => {
    const kit = await begun([[pinFive], [pinFive], [text("Good.")]]);
    await kit.say("Go on.", { isLost: true });
    expect(await done(kit)).toEqual([]);
    await kit.say("Go on.");
    expect(await done(kit)).toEqual(pinned);
    expect(kit.problems()).toEqual([]);
  });

  test("two identical requests at once, each with the same call: the second changes nothing", async () => {
    const note = own("note", { verb: "create", text: "The file has some lines." });
    const kit = await begun([[pinFive, note], [pinFive, note], [text("One.")], [text("Two.")]]);
    await Promise.all([kit.say("Go on."), kit.say("Go on.")]);
    expect(kit.problems()).toEqual([]);
    const types = await done(kit);
    expect(types.filter((type) => type === "pin-set")).toEqual(pinned);
    expect(types.filter((type) => type === "block-added")).toHaveLength(1);
  });
});

describe("an answer that does not arrive whole", () => {
  test("the client leaves before its end, wherever that is: nothing is carried out", async () => {
    for (let heard = 1; heard <= 11; heard += 1) {
      const kit = await begun([[text("I pin it."), pinFive]]);
      const { answer } = await kit.say("Go on.", { heard });
      expect(heard).toBeLessThan(answer.chunks.length);
      expect(await done(kit)).toEqual([]);
    }
  });

  const damages: readonly [string, (event: string) => string][] = [
    ["no JSON", (event) => event.replace('":', '"')],
    ["half an event", (event) => `${event.slice(0, event.length / 2)}\n\n`],
    ["an error in between", (event) => `event: error\ndata: {"type":"error","error":{}}\n\n${event}`],
    ["a delta of nothing", (event) => `data: {"type":"content_block_delta"\n\n${event}`],
  ];

  test.each(damages)("malformed events, at every place: %s", async (_, spoil) => {
    const broad = own("manage", { verb: "pin", target: "4..5, 6..7" });
    for (let at = 0; ; at += 1) {
      const kit = await begun([[text("I pin it."), broad]]);
      let count = 0;
      await kit.say("Go on.", {
        damage: (chunks) => {
          count = chunks.length;
          return chunks.map((chunk, n) => (n === at ? Buffer.from(spoil(chunk.toString())) : chunk));
        },
      });
      if (at >= count) break;
      expect([at, await done(kit)]).toEqual([at, []]);
      await kit.say("And now?");
      expect(kit.problems()).toEqual([]);
    }
  });
});

describe("whoever carries out commands fails", () => {
  test("killed between the answer and the command: the next process tells the model, and goes on", async () => {
    const kit = await begun([[pinFive, read], [text("Good.")]], { commandMs: 50 });
    kit.recorder.command = () => new Promise(() => undefined);
    await kit.say("Go on.");
    kit.restart();
    await kit.results("another file");
    expect(kit.problems()).toEqual([]);
    expect(await done(kit)).toEqual([]);
    expect(must(kit.sent.at(-1), "it was sent").body).toContain("has not carried this out in time");
  });

  test("its records cannot be reached: the model is told, the client gets its answer", async () => {
    const store = openMemoryStore();
    const kit = await begun([[pinFive], [text("Good.")], [text("Yes.")]], { store });
    await store.close();
    await kit.say("Go on.");
    await kit.say("And now?");
    expect(kit.problems()).toEqual([]);
    expect(JSON.stringify(kit.history)).toContain("Good.");
    expect(must(kit.sent.at(-1), "it was sent").body).toContain("records cannot be reached");
  });

  test("it is stuck: nobody waits for long, and nothing of it reaches the client", async () => {
    const kit = await begun([[pinFive], [text("Good.")], [text("Yes.")]], { commandMs: 50 });
    kit.recorder.command = () => new Promise(() => undefined);
    const { rounds } = await kit.say("Go on.");
    expect(rounds[0]?.body).toContain("has not carried this out in time");
    expect(JSON.stringify(kit.history.at(-1))).toContain("Good.");
    expect(JSON.stringify(kit.history)).not.toContain("aperture");
    expect(kit.problems()).toEqual([]);
  });
});

test("many requests of one session at once: each command once, in one order, and everything is accepted", async () => {
  const notes = Array.from({ length: 4 }, (_, at) =>
    own("note", { verb: "create", text: `Note ${at}: shelf ${at} holds ${at * 7} books.` }),
  );
  const kit = await begun(notes.map((note) => [note]));
  await Promise.all(notes.map((_, at) => kit.say(`Go on with ${at}.`)));
  expect(kit.problems()).toEqual([]);
  const added = (await kit.commandFrames()).flatMap(({ deltas }) =>
    deltas.flatMap((delta) => (delta.type === "block-added" ? [delta.block.id] : [])),
  );
  expect(new Set(added).size).toBe(notes.length);
  const seqs = (await kit.frames()).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
});
