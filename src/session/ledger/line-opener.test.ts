import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { ingestRequest } from "../../protocols/index.ts";
import type { Asking, RememberedStream } from "../desk-port.ts";
import type { LedgerQuestion } from "../read/questions.ts";
import { belongingOf } from "../record/identify.ts";
import { isFirst, LineOpener } from "./line-opener.ts";
import { keyOf, Lines } from "./lines.ts";
import type { Read } from "./read-request.ts";

type Said = { readonly session?: string; readonly agent?: string; readonly answers?: number };

/** A request of a talk in which the model has spoken so often. */
function read({ session, agent, answers = 1 }: Said = {}): Read {
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
  const asking = { id: "r", upstream: "anthropic", headers, caller } as unknown as Asking;
  const request = must(ingestRequest(body, null), "it can be read");
  return { asking, body, request, previous: null, belonging: belongingOf(asking, request) };
}

function remembered(over: Partial<RememberedStream> = {}): RememberedStream {
  const nothing = { talkName: null, turns: [], model: null, blocks: [], briefing: null };
  return { ...nothing, wasManaged: true, isKnown: true, turn: 6, next: { block: 40, message: 9 }, ...over };
}

/** An opener whose log answers when it is told to. */
function opener() {
  const lines = new Lines();
  const questions: LedgerQuestion[] = [];
  const answers: { resolve: (stream: RememberedStream | null) => void; reject: (why: Error) => void }[] = [];
  const place = {
    nonceOf: () => "k7f3",
    newName: () => "talk-1",
    recordOf: () => 0,
    deadlineMs: 5,
    remember: (question: LedgerQuestion) => {
      questions.push(question);
      return new Promise<RememberedStream | null>((resolve, reject) => answers.push({ resolve, reject }));
    },
  };
  return { lines, questions, answers, open: new LineOpener(place, lines) };
}

const settled = () => new Promise((resume) => setTimeout(resume, 1));

describe("a talk that begins", () => {
  test("is numbered at once where it has no name: nothing of its session can be in the log", () => {
    const { open, questions } = opener();
    const first = read({ answers: 0 });
    expect([isFirst(first), open.canNumber(first)]).toEqual([true, true]);
    const line = open.begin(first);
    expect(line).toMatchObject({ talkName: "talk-1", wasManaged: false, isAsked: true });
    expect([line.numbers.isReady, questions]).toEqual([true, []]);
  });

  test("waits for the log where it has one, and takes the numbers of another stream of its session", () => {
    const { open } = opener();
    const [main, agent] = [read({ session: "s" }), read({ session: "s", agent: "a", answers: 0 })];
    expect([open.canNumber(main), open.begin(main).numbers.isReady]).toEqual([false, false]);
    const known = opener();
    const asked = known.open.remembered(main);
    known.answers[0]?.resolve(remembered());
    return asked.then((line) => {
      expect(known.open.canNumber(agent)).toBe(true);
      expect(known.open.begin(agent).numbers.source).toBe(line.numbers.source);
    });
  });
});

describe("a talk that was forgotten", () => {
  test("is asked for once, however many wait for it, and goes on as the log has it", async () => {
    const { open, questions, answers, lines } = opener();
    const known = { key: "k", block: 3, message: 2, turn: 1 };
    const lineOf = [open.remembered(read({ session: "s" })), open.remembered(read({ session: "s" }))];
    answers[0]?.resolve(remembered({ blocks: [known] }));
    const [one, two] = await Promise.all(lineOf);
    expect([questions.length, one === two, lines.has(must(one, "it came"))]).toEqual([1, true, true]);
    expect(one).toMatchObject({ wasManaged: true, isManaged: true, isAsked: true });
    expect(one?.numbers.find("k", 0)).toMatchObject({ block: 3, message: 2 });
    expect(one?.numbers.take("block")).toBe(2_001);
  });

  test("that the log does not know is new, and numbered from 1", async () => {
    const { open, answers } = opener();
    const asked = open.remembered(read({ session: "s" }));
    answers[0]?.resolve(null);
    const line = await asked;
    expect([line.wasManaged, line.isAsked, line.numbers.take("block")]).toEqual([false, false, 1]);
  });

  test("goes on under the name it was given", async () => {
    const { open, answers } = opener();
    const asked = open.remembered(read());
    answers[0]?.resolve(remembered({ talkName: "talk-7" }));
    expect((await asked).talkName).toBe("talk-7");
  });

  test.each(["stays silent", "cannot be asked"])("passes without numbers where the log %s", async (how) => {
    const { open, answers, lines } = opener();
    const asked = open.remembered(read({ session: "s" }));
    if (how === "cannot be asked") answers[0]?.reject(new Error("gone"));
    const line = await asked;
    expect([line.wasManaged, line.numbers.isReady, lines.has(line)]).toEqual(["unknown", false, false]);
  });

  test("begins where nobody has answered yet, rather than wait any longer", async () => {
    const { open } = opener();
    const line = await open.remembered(read({ session: "s", answers: 0 }));
    expect([line.wasManaged, line.numbers.isReady]).toEqual([false, false]);
  });

  test("is served by an answer that comes late, unless something was sent meanwhile", async () => {
    const { open, answers, lines } = opener();
    const asking = read({ session: "s" });
    const find = () => lines.find(asking.asking, asking.belonging, asking.request);
    const unsure = await open.remembered(asking);
    answers[0]?.resolve(remembered());
    await settled();
    expect([find() === unsure, find()?.wasManaged]).toEqual([false, true]);
    const other = opener();
    const kept = await other.open.remembered(asking);
    other.lines.keep(asking.asking, asking.request, kept);
    other.answers[0]?.resolve(remembered());
    await settled();
    expect(other.lines.find(asking.asking, asking.belonging, asking.request)).toBe(kept);
  });

  test("whose memory makes no sense begins anew", async () => {
    const { open, answers } = opener();
    const asked = open.remembered(read({ session: "s" }));
    const broken = { body: null as unknown as Uint8Array, path: [], answer: null, turn: 1 };
    answers[0]?.resolve(remembered({ turns: [broken] }));
    const line = await asked;
    expect([line.wasManaged, line.last, line.numbers.isReady]).toEqual([true, null, true]);
  });
});

describe("numbers that are learnt later", () => {
  test("are asked for once at a time, and not where they are known", async () => {
    const { open, questions, answers } = opener();
    const first = read({ session: "s", answers: 0 });
    const line = open.begin(first);
    open.learnNumbers(line, first);
    open.learnNumbers(line, first);
    expect(questions).toMatchObject([{ sessionKey: "s", owner: "local" }]);
    answers[0]?.resolve(remembered({ isKnown: false }));
    await settled();
    expect([line.numbers.isReady, line.numbers.take("block")]).toEqual([true, 2_001]);
    open.learnNumbers(line, first);
    expect(questions).toHaveLength(1);
  });

  test("are asked for once more where something was sent that only the log has a number for", async () => {
    const { open, questions, answers } = opener();
    const first = read({ session: "s", answers: 0 });
    const line = open.begin(first);
    open.learnNumbers(line, first);
    line.isUnnumbered = true;
    answers[0]?.resolve(remembered());
    await settled();
    open.learnNumbers(line, first);
    expect([questions.length, line.isUnnumbered]).toEqual([2, false]);
    answers[1]?.resolve(remembered({ blocks: [{ key: "k", block: 7, message: 3, turn: 2 }] }));
    await settled();
    expect(line.numbers.find("k", 0)).toMatchObject({ block: 7 });
    open.learnNumbers(line, first);
    expect(questions).toHaveLength(2);
  });

  test("are asked for again where the log could not say", async () => {
    const { open, questions, answers } = opener();
    const first = read({ session: "s", answers: 0 });
    const line = open.begin(first);
    open.learnNumbers(line, first);
    answers[0]?.reject(new Error("gone"));
    await settled();
    expect(line.numbers.isReady).toBe(false);
    open.learnNumbers(line, first);
    expect(questions).toHaveLength(2);
  });
});

test("a line is named after who leads it, where it goes and what its client calls it", () => {
  const { open } = opener();
  const asking = read({ session: "s", agent: "a", answers: 0 });
  const line = open.begin(asking);
  expect(line.key).toBe(keyOf(asking.asking, asking.belonging));
  expect([JSON.parse(line.key).at(-1), JSON.parse(line.session).at(-1)]).toEqual(["agent a", null]);
});
