// Models without tools give commands as lines of text, which the client never sees.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelReply, type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { isLong } from "../support/runs.ts";
import { prefixBreaks, rejections, TestClient } from "../support/test-client.ts";

type ReplyPart = ModelReply["content"][number];
/** An answer of the model; a function gets the session's nonce. */
type ScriptedAnswer = readonly ReplyPart[] | ((nonce: string) => readonly ReplyPart[]);

const text = (words: string): ReplyPart => ({ type: "text", text: words });
const think = (words: string): ReplyPart => ({ type: "thinking", thinking: words });
const call = (name: string, input: Record<string, unknown>): ReplyPart =>
  ({ type: "tool_use", name, input }) as ReplyPart;

let upstream: StrictUpstream;
let app: TestApp;
let replies: ScriptedAnswer[] = [];

const bodies = (): readonly Buffer[] => upstream.exchanges.map(({ body }) => body);
const nonceIn = (body: string): string => /carry the mark (\w{4})/.exec(body)?.[1] ?? "";
const nonce = (): string => nonceIn(bodies()[0]?.toString() ?? "");
const lastBody = (): string => bodies().at(-1)?.toString() ?? "";

const managed = { mode: "auto", deadlineMs: 20_000, limits: { planMs: 30_000 } } as const;

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
    limits: { planMs: 30_000 },
  } as const;
  app = await startTestApp(upstream.url, managed);
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

async function playTurns(talker: TestClient, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const answer = await talker.turn(app.url, `question ${n}`);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
    await app.recorded();
  }
}

/** Waits until a command is in the log and its result had time to reach the planner. */
async function waitForCommand(command: string): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await app.api("/sessions/last/frames?limit=100")).body.includes(command);
  await expect.poll(isThere, { timeout: 20_000 }).toBe(true);
  await sleep(300);
}

/** The texts that the client got, answer by answer. */
function textsSeenBy({ messages }: TestClient): readonly (readonly unknown[])[] {
  return messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.filter(({ type }) => type === "text").map(({ text: words }) => words));
}

const ways: readonly (readonly [model: string, stream: boolean])[] = [
  ["claude-opus-5-5", true],
  ["claude-opus-4-6", false],
  ...(isLong
    ? ([
        ["claude-opus-5-5", false],
        ["claude-opus-4-8", true],
        ["claude-opus-4-6", true],
      ] as const)
    : []),
];

const newTalker = ([model, stream]: readonly [string, boolean]): TestClient =>
  new TestClient({ model, bulk: 80_000, more: stream ? { stream } : {} });

describe.each(ways)("with %s, streaming %s", (...way) => {
  const newClient = () => newTalker(way);

  it("a line that reads is executed, and the answer continues", async () => {
    replies = [
      (nonceWord) => [think("a"), text(`one\n@manifest() ${nonceWord}\n`)],
      [think("b"), text("two")],
      [text("three")],
    ];
    const talker = newClient();
    await playTurns(talker, 2);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(3);
    expect(bodies()[1]?.toString()).toContain(`[${nonce()} answer to @manifest()]\\n[CONTEXT MANIFEST`);
    expect(lastBody()).toContain(`one\\n@manifest() ${nonce()}\\n`);
    expect(lastBody()).not.toContain('"name":"aperture_');
    expect(textsSeenBy(talker)).toEqual([["one\n", "two"], ["three"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("a line that changes something is executed, and its result comes with the next turn", async () => {
    replies = [(nonceWord) => [text(`@focus(4) ${nonceWord}\nDone.`)], [text("two")]];
    const talker = newClient();
    await playTurns(talker, 1);
    await waitForCommand("@focus");
    await playTurns(talker, 1);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(2);
    expect(lastBody()).toContain(`[${nonce()} answer to @focus(4)]\\n#4 in focus`);
    expect(lastBody()).toContain(`"@focus(4) ${nonce()}\\nDone."`);
    expect(textsSeenBy(talker)).toEqual([["Done."], ["two"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("an answer of command lines alone is continued, and the client sees nothing of it", async () => {
    const only = (nonceWord: string) => [text(`@pin(1) ${nonceWord}\n@unpin(1) ${nonceWord}`)];
    replies = [only, [text("two")], only, only, [text("three")]];
    const talker = newClient();
    await playTurns(talker, 3);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(6);
    expect(textsSeenBy(talker)).toEqual([["two"], ["three"], ["nothing more"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("beside a call of the client's, the result comes after the client's", async () => {
    replies = [
      (nonceWord) => [text(`@expand(1) ${nonceWord}\nLook.`), call("look", { n: 1 })],
      [text("two")],
      [text("three")],
    ];
    const talker = newClient();
    await playTurns(talker, 3);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(3);
    expect(bodies()[1]?.toString()).toMatch(/tool_result.*answer to @expand\(1\)/);
    expect(textsSeenBy(talker)).toEqual([["Look."], ["two"], ["three"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });
});

describe.each(ways)("over several turns with %s, streaming %s", (...way) => {
  const newClient = () => newTalker(way);

  it("rounds are limited, then the client gets the answer so far", async () => {
    const again = (nonceWord: string) => [text(`@manifest() ${nonceWord}`)];
    replies = [
      (nonceWord) => [text("start"), ...again(nonceWord)],
      again,
      again,
      again,
      again,
      [text("after")],
    ];
    const talker = newClient();
    await playTurns(talker, 3);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(7);
    expect(textsSeenBy(talker)).toEqual([["start"], ["after"], ["nothing more"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("text that only looks like a command stays text", async () => {
    const likes = (nonceWord: string) => [
      `Write this:\n\`\`\`\n@pin(1) ${nonceWord}\n\`\`\`\nNow.`,
      `> said:\n> @pin(1) ${nonceWord}\n\nso`,
      "@pin(1)\n@pin(1) zzzz\nNo mark.",
      `Here @pin(1) ${nonceWord} inside.\n  @pin(1) ${nonceWord}`,
      `@pinned(1) ${nonceWord}\n@pin(1) ${nonceWord} and more`,
      `"@pin(1) ${nonceWord}"`,
    ];
    replies = likes("").map((_, at) => (nonceWord: string) => [text(likes(nonceWord)[at] ?? "")]);
    const talker = newClient();
    await playTurns(talker, 6);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(6);
    expect(textsSeenBy(talker)).toEqual(likes(nonce()).map((words) => [words]));
    expect(lastBody()).not.toContain("answer to");
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("six turns with commands of all kinds keep the prefix", async () => {
    replies = [
      (nonceWord) => [think("a"), text(`one\n@pin(1) ${nonceWord}`)],
      (nonceWord) => [text(`@create("a note") ${nonceWord}\n@diff() ${nonceWord}`)],
      [think("b"), text("two")],
      (nonceWord) => [text(`three\n@pin( ${nonceWord}\n@pin() ${nonceWord}`)],
      (nonceWord) => [call("look", { n: 1 }), text(`four\n@unpin(1) ${nonceWord}`)],
      (nonceWord) => [text(`five\n@expand(1) ${nonceWord}\nmore`)],
      [text("six")],
    ];
    const talker = newClient();
    await playTurns(talker, 6);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(JSON.stringify(talker.messages)).not.toContain(`) ${nonce()}`);
    expect(prefixBreaks(bodies())).toBe(0);
  });
});

describe.each(ways)("after a restart with %s, streaming %s", (...way) => {
  it("a session keeps its command mode, even if the setting changed", async () => {
    replies = [
      (nonceWord) => [think("a"), text(`one\n@focus(4) ${nonceWord}`)],
      (nonceWord) => [text(`@manifest() ${nonceWord}`)],
      (nonceWord) => [think("b"), text(`two\n@diff() ${nonceWord}`)],
      [text("three")],
      (nonceWord) => [text(`four\n@unfocus ${nonceWord}\n@focus(4) ${nonceWord}`)],
      (nonceWord) => [text(`five\n@manifest() ${nonceWord}`)],
      [text("six")],
    ];
    const talker = newTalker(way);
    await playTurns(talker, 3);
    await app.close();
    app = await startTestApp(upstream.url, { ...managed, textCommands: "off", dataDir: app.dataDir });
    await playTurns(talker, 2);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(lastBody()).not.toContain('"name":"aperture_');
    const expected = [["one\n"], ["two\n", "three"], [`four\n@unfocus ${nonce()}\n`], ["five\n", "six"]];
    expect(textsSeenBy(talker)).toEqual([...expected, ["nothing more"]]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("a new session has tools if the setting is off", async () => {
    await app.close();
    app = await startTestApp(upstream.url, { ...managed, dataDir: app.dataDir });
    replies = [(nonceWord) => [text(`one\n@manifest() ${nonceWord}`)]];
    const talker = newTalker(way);
    await playTurns(talker, 1);
    expect(upstream.exchanges).toHaveLength(1);
    expect(lastBody()).toContain('"name":"aperture_');
    expect(textsSeenBy(talker)).toEqual([[`one\n@manifest() ${nonce()}`]]);
  });
});
