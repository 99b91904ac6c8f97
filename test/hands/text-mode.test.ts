// Models without tools command by lines of what they say, and the client never sees such a line.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Reply, type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { prefixBreaks, rejections, Talker } from "../support/talker.ts";

type Said = Reply["content"][number];
/** What the model says, for some of it with the mark it was told. */
type Answer = readonly Said[] | ((nonce: string) => readonly Said[]);

const text = (words: string): Said => ({ type: "text", text: words });
const think = (words: string): Said => ({ type: "thinking", thinking: words });
const call = (name: string, input: Record<string, unknown>): Said =>
  ({ type: "tool_use", name, input }) as Said;

let upstream: StrictUpstream;
let app: TestApp;
let replies: Answer[] = [];

const bodies = (): readonly Buffer[] => upstream.exchanges.map(({ body }) => body);
const nonceIn = (body: string): string => /carry the mark (\w{4})/.exec(body)?.[1] ?? "";
const nonce = (): string => nonceIn(bodies()[0]?.toString() ?? "");
const lastBody = (): string => bodies().at(-1)?.toString() ?? "";

const managed = { mode: "auto", deadlineMs: 20_000, limits: { takeMs: 30_000 } } as const;

beforeEach(async () => {
  replies = [];
  let next = 0;
  upstream = await startStrictUpstream({
    model: (request) => {
      const reply = replies[next] ?? [text("nothing more")];
      next += 1;
      return { content: typeof reply === "function" ? reply(nonceIn(JSON.stringify(request))) : reply };
    },
  });
  const managed = {
    mode: "auto",
    textCommands: "on",
    deadlineMs: 20_000,
    limits: { takeMs: 30_000 },
  } as const;
  app = await startTestApp(upstream.url, managed);
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

async function turns(talker: Talker, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const answer = await talker.turn(app.url, `question ${n}`);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
    await app.recorded();
  }
}

/** A command is in the log, and what it came to has had the time to be told. */
async function carriedOut(command: string): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await app.api("/sessions/last/frames?limit=100")).body.includes(command);
  await expect.poll(isThere, { timeout: 20_000 }).toBe(true);
  await sleep(300);
}

/** What the client was told, answer by answer. */
function toldTo({ messages }: Talker): readonly (readonly unknown[])[] {
  return messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.filter(({ type }) => type === "text").map(({ text: words }) => words));
}

const ways = [
  ["claude-opus-5-5", true],
  ["claude-opus-5-5", false],
  ["claude-opus-4-8", true],
  ["claude-opus-4-6", true],
  ["claude-opus-4-6", false],
] as const;

const talkAs = ([model, stream]: readonly [string, boolean]): Talker =>
  new Talker({ model, bulk: 80_000, more: stream ? { stream } : {} });

describe.each(ways)("with %s, streaming %s", (...way) => {
  const talk = () => talkAs(way);

  it("a line that reads is carried out, and the answer goes on", async () => {
    replies = [
      (mark) => [think("a"), text(`one\n@manifest() ${mark}\n`)],
      [think("b"), text("two")],
      [text("three")],
    ];
    const talker = talk();
    await turns(talker, 2);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(3);
    expect(bodies()[1]?.toString()).toContain(`[${nonce()} answer to @manifest()]\\n[CONTEXT MANIFEST`);
    expect(lastBody()).toContain(`one\\n@manifest() ${nonce()}\\n`);
    expect(lastBody()).not.toContain('"name":"aperture_');
    expect(toldTo(talker)).toEqual([["one\n", "two"], ["three"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("a line that changes is carried out, and its answer comes with the next turn", async () => {
    replies = [(mark) => [text(`@focus(4) ${mark}\nDone.`)], [text("two")]];
    const talker = talk();
    await turns(talker, 1);
    await carriedOut("@focus");
    await turns(talker, 1);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(2);
    expect(lastBody()).toContain(`[${nonce()} answer to @focus(4)]\\n#4 in focus`);
    expect(lastBody()).toContain(`"@focus(4) ${nonce()}\\nDone."`);
    expect(toldTo(talker)).toEqual([["Done."], ["two"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("nothing but lines is gone on with, and leaves nothing behind", async () => {
    const only = (mark: string) => [text(`@pin(1) ${mark}\n@unpin(1) ${mark}`)];
    replies = [only, [text("two")], only, only, [text("three")]];
    const talker = talk();
    await turns(talker, 3);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(6);
    expect(toldTo(talker)).toEqual([["two"], ["three"], ["nothing more"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("beside a call of the client's the answer comes behind its result", async () => {
    replies = [
      (mark) => [text(`@expand(1) ${mark}\nLook.`), call("look", { n: 1 })],
      [text("two")],
      [text("three")],
    ];
    const talker = talk();
    await turns(talker, 3);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(3);
    expect(bodies()[1]?.toString()).toMatch(/tool_result.*answer to @expand\(1\)/);
    expect(toldTo(talker)).toEqual([["Look."], ["two"], ["three"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });
});

describe.each(ways)("over several turns with %s, streaming %s", (...way) => {
  const talk = () => talkAs(way);

  it("goes on for a few rounds, then the client gets what there is", async () => {
    const again = (mark: string) => [text(`@manifest() ${mark}`)];
    replies = [(mark) => [text("start"), ...again(mark)], again, again, again, again, [text("after")]];
    const talker = talk();
    await turns(talker, 3);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(7);
    expect(toldTo(talker)).toEqual([["start"], ["after"], ["nothing more"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("what only looks like a command stays text, and nothing happens", async () => {
    const likes = (mark: string) => [
      `Write this:\n\`\`\`\n@pin(1) ${mark}\n\`\`\`\nNow.`,
      `> said:\n> @pin(1) ${mark}\n\nso`,
      "@pin(1)\n@pin(1) zzzz\nNo mark.",
      `Here @pin(1) ${mark} inside.\n  @pin(1) ${mark}`,
      `@pinned(1) ${mark}\n@pin(1) ${mark} and more`,
      `"@pin(1) ${mark}"`,
    ];
    replies = likes("").map((_, at) => (mark: string) => [text(likes(mark)[at] ?? "")]);
    const talker = talk();
    await turns(talker, 6);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(6);
    expect(toldTo(talker)).toEqual(likes(nonce()).map((words) => [words]));
    expect(lastBody()).not.toContain("answer to");
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("six turns with commands of all kinds keep the prefix", async () => {
    replies = [
      (mark) => [think("a"), text(`one\n@pin(1) ${mark}`)],
      (mark) => [text(`@create("a note") ${mark}\n@diff() ${mark}`)],
      [think("b"), text("two")],
      (mark) => [text(`three\n@pin( ${mark}\n@pin() ${mark}`)],
      (mark) => [call("look", { n: 1 }), text(`four\n@unpin(1) ${mark}`)],
      (mark) => [text(`five\n@expand(1) ${mark}\nmore`)],
      [text("six")],
    ];
    const talker = talk();
    await turns(talker, 6);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(JSON.stringify(talker.messages)).not.toContain(`) ${nonce()}`);
    expect(prefixBreaks(bodies())).toBe(0);
  });
});

describe.each(ways)("after a restart with %s, streaming %s", (...way) => {
  it("a session goes on as it began, whatever the setting says then", async () => {
    replies = [
      (mark) => [think("a"), text(`one\n@focus(4) ${mark}`)],
      (mark) => [text(`@manifest() ${mark}`)],
      (mark) => [think("b"), text(`two\n@diff() ${mark}`)],
      [text("three")],
      (mark) => [text(`four\n@unfocus ${mark}\n@focus(4) ${mark}`)],
      (mark) => [text(`five\n@manifest() ${mark}`)],
      [text("six")],
    ];
    const talker = talkAs(way);
    await turns(talker, 3);
    await app.close();
    app = await startTestApp(upstream.url, { ...managed, textCommands: "off", dataDir: app.dataDir });
    await turns(talker, 2);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(lastBody()).not.toContain('"name":"aperture_');
    const told = [["one\n"], ["two\n", "three"], [`four\n@unfocus ${nonce()}\n`], ["five\n", "six"]];
    expect(toldTo(talker)).toEqual([...told, ["nothing more"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("a new session has tools where the setting is off", async () => {
    await app.close();
    app = await startTestApp(upstream.url, { ...managed, dataDir: app.dataDir });
    replies = [(mark) => [text(`one\n@manifest() ${mark}`)]];
    const talker = talkAs(way);
    await turns(talker, 1);
    expect(upstream.exchanges).toHaveLength(1);
    expect(lastBody()).toContain('"name":"aperture_');
    expect(toldTo(talker)).toEqual([[`one\n@manifest() ${nonce()}`]]);
  });
});
