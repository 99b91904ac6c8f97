import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { identify, type RequestMeta, type StreamLookup, type StreamRecord } from "../../exchange/index.ts";
import type { LiveStream } from "./live-stream.ts";
import { keyOfRequest, LiveStreams } from "./live-streams.ts";
import { type Request, readRequest } from "./read-request.ts";
import { StreamOpener } from "./stream-opener.ts";

type RequestOptions = { readonly session?: string; readonly agent?: string; readonly answers?: number };

/** A request of a conversation with this many answers. */
function received({ session, agent, answers = 1 }: RequestOptions = {}): Request {
  const turns = Array.from({ length: answers }, (_, n) => [
    { role: "user", content: `ask ${n}` },
    { role: "assistant", content: `say ${n}` },
  ]);
  const messages = [...turns.flat(), { role: "user", content: "and now" }];
  const body = Buffer.from(JSON.stringify({ model: "claude-opus-5-5", messages }));
  const headers = {
    ...(session === undefined ? {} : { "x-aperture-session": session }),
    ...(agent === undefined ? {} : { "x-claude-code-agent-id": agent }),
  };
  const caller = { owner: "local", credential: "key", secrets: [] };
  const target = { protocol: "anthropic", method: "POST", target: "/v1/messages" };
  const meta = { id: "r", upstream: "anthropic", ...target, headers, caller } as unknown as RequestMeta;
  return must(readRequest({ meta, body, previous: null, named: identify(meta) }), "it can be read");
}

const isNumbered = ({ ledger }: LiveStream): boolean => ledger.numbers.session !== null;
/** The next block starts a claim, because no block was numbered yet. */
const nextBlock = ({ ledger }: LiveStream): number =>
  (ledger.numbers.session?.nextClaim.block ?? -1) * 1_000 + 1;

function recorded(over: Partial<StreamRecord> = {}): StreamRecord {
  return {
    generatedName: null,
    wasManaged: true,
    isKnown: true,
    turns: [],
    model: null,
    lastTurn: 6,
    blocks: [],
    wishes: null,
    nextIds: { block: 40, message: 9 },
    ...over,
  };
}

/** An opener whose log answers when the test says so. */
function opener() {
  const streams = new LiveStreams();
  const questions: StreamLookup[] = [];
  const answers: { resolve: (stream: StreamRecord | null) => void; reject: (why: Error) => void }[] = [];
  const deps = {
    nonceOf: () => "k7f3",
    newSessionName: () => "talk-1",
    recordVersionOf: () => 0,
    deadlineMs: 5,
    lookUpStream: (question: StreamLookup) => {
      questions.push(question);
      return new Promise<StreamRecord | null>((resolve, reject) => answers.push({ resolve, reject }));
    },
  };
  return { streams, questions, answers, open: new StreamOpener(deps, streams) };
}

const settled = () => new Promise((resume) => setTimeout(resume, 1));

describe("a new conversation", () => {
  test("without a session name is numbered at once: the log cannot know its session", () => {
    const { open, questions } = opener();
    const first = received({ answers: 0 });
    expect([first.isFirst, open.canNumber(first)]).toEqual([true, true]);
    const stream = open.openNew(first);
    expect(stream).toMatchObject({ generatedName: "talk-1", wasManaged: false, isLookedUp: true });
    expect([isNumbered(stream), questions]).toEqual([true, []]);
  });

  test("with a session name waits for the log, or takes the numbers of another stream of its session", () => {
    const { open } = opener();
    const [main, agent] = [received({ session: "s" }), received({ session: "s", agent: "a", answers: 0 })];
    expect([open.canNumber(main), isNumbered(open.openNew(main))]).toEqual([false, false]);
    const known = opener();
    const opening = known.open.openFromLog(main);
    known.answers[0]?.resolve(recorded());
    return opening.then((stream) => {
      expect(known.open.canNumber(agent)).toBe(true);
      expect(known.open.openNew(agent).ledger.numbers.session).toEqual(stream.ledger.numbers.session);
    });
  });
});

describe("a stream that is not in memory", () => {
  test("is looked up once for all requests that wait, and restored from the log", async () => {
    const { open, questions, answers, streams } = opener();
    const known = { key: "k", block: 3, message: 2, turn: 1 };
    const opening = [
      open.openFromLog(received({ session: "s" })),
      open.openFromLog(received({ session: "s" })),
    ];
    answers[0]?.resolve(recorded({ blocks: [known] }));
    const [one, two] = await Promise.all(opening);
    expect([questions.length, one === two, streams.has(must(one, "it came"))]).toEqual([1, true, true]);
    expect(one).toMatchObject({ wasManaged: true, isManaged: true, isLookedUp: true });
    expect(one?.ledger.numbers.known.find("k", 0)).toMatchObject({ block: 3, message: 2 });
    expect(nextBlock(must(one, "it came"))).toBe(2_001);
  });

  test("is new and numbered from 1 if the log does not know it", async () => {
    const { open, answers } = opener();
    const opening = open.openFromLog(received({ session: "s" }));
    answers[0]?.resolve(null);
    const stream = await opening;
    expect([stream.wasManaged, stream.isLookedUp, nextBlock(stream)]).toEqual([false, false, 1]);
  });

  test("keeps its generated name", async () => {
    const { open, answers } = opener();
    const opening = open.openFromLog(received());
    answers[0]?.resolve(recorded({ generatedName: "talk-7" }));
    expect((await opening).generatedName).toBe("talk-7");
  });

  test.each(["stays silent", "cannot be asked"])("has no numbers if the log %s", async (how) => {
    const { open, answers, streams } = opener();
    const opening = open.openFromLog(received({ session: "s" }));
    if (how === "cannot be asked") answers[0]?.reject(new Error("gone"));
    const stream = await opening;
    expect([stream.wasManaged, isNumbered(stream), streams.has(stream)]).toEqual(["unknown", false, false]);
  });

  test("begins anew if it has no answers and the log is late", async () => {
    const { open } = opener();
    const stream = await open.openFromLog(received({ session: "s", answers: 0 }));
    expect([stream.wasManaged, isNumbered(stream)]).toEqual([false, false]);
  });

  test("is restored from a late answer, unless a request was sent meanwhile", async () => {
    const { open, answers, streams } = opener();
    const next = received({ session: "s" });
    const find = () => streams.find(next.meta, next.identity, next.wire);
    const unsure = await open.openFromLog(next);
    answers[0]?.resolve(recorded());
    await settled();
    expect([find() === unsure, find()?.wasManaged]).toEqual([false, true]);
    const other = opener();
    const kept = await other.open.openFromLog(next);
    other.streams.restore(next.meta, next.wire, kept);
    other.answers[0]?.resolve(recorded());
    await settled();
    expect(other.streams.find(next.meta, next.identity, next.wire)).toBe(kept);
  });

  test("begins anew if its record cannot be restored", async () => {
    const { open, answers } = opener();
    const opening = open.openFromLog(received({ session: "s" }));
    const broken = { body: null as unknown as Uint8Array, path: [], answer: null, turn: 1 };
    answers[0]?.resolve(recorded({ turns: [broken] }));
    const stream = await opening;
    expect([stream.wasManaged, stream.lastRequest, isNumbered(stream)]).toEqual([true, null, true]);
  });
});

describe("numbers that come later", () => {
  test("are requested once at a time, and not if they are known", async () => {
    const { open, questions, answers } = opener();
    const first = received({ session: "s", answers: 0 });
    const stream = open.openNew(first);
    open.requestNumbers(stream, first);
    open.requestNumbers(stream, first);
    expect(questions).toMatchObject([{ sessionKey: "s", owner: "local" }]);
    answers[0]?.resolve(recorded({ isKnown: false }));
    await settled();
    expect([isNumbered(stream), nextBlock(stream)]).toEqual([true, 2_001]);
    open.requestNumbers(stream, first);
    expect(questions).toHaveLength(1);
  });

  test("are requested once more if a block was sent without a number", async () => {
    const { open, questions, answers } = opener();
    const first = received({ session: "s", answers: 0 });
    const stream = open.openNew(first);
    open.requestNumbers(stream, first);
    stream.isUnnumbered = true;
    answers[0]?.resolve(recorded());
    await settled();
    open.requestNumbers(stream, first);
    expect([questions.length, stream.isUnnumbered]).toEqual([2, false]);
    answers[1]?.resolve(recorded({ blocks: [{ key: "k", block: 7, message: 3, turn: 2 }] }));
    await settled();
    expect(stream.ledger.numbers.known.find("k", 0)).toMatchObject({ block: 7 });
    open.requestNumbers(stream, first);
    expect(questions).toHaveLength(2);
  });

  test("are requested again if the log failed", async () => {
    const { open, questions, answers } = opener();
    const first = received({ session: "s", answers: 0 });
    const stream = open.openNew(first);
    open.requestNumbers(stream, first);
    answers[0]?.reject(new Error("gone"));
    await settled();
    expect(isNumbered(stream)).toBe(false);
    open.requestNumbers(stream, first);
    expect(questions).toHaveLength(2);
  });
});

test("the key of a stream is made of caller, upstream and the client's names", () => {
  const { open } = opener();
  const first = received({ session: "s", agent: "a", answers: 0 });
  const stream = open.openNew(first);
  expect(stream.key).toBe(keyOfRequest(first.meta, first.identity));
  expect([JSON.parse(stream.key).at(-1), JSON.parse(stream.session).at(-1)]).toEqual(["agent a", null]);
});
