import { describe, expect, test } from "vitest";
import { mainView, TestSession } from "../../../test/support/engine.ts";
import { blockId } from "../../base/index.ts";
import { type BlockKind, pin, select } from "../../engine/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import { Briefer } from "./briefing.ts";
import type { RecordedLine } from "./recorded-line.ts";

type Sizes = { readonly used: number; readonly free: number; readonly turnsLeft: number | null };

/** A line of the main stream, with what its provider has counted. */
function lineOf(session: TestSession, budget: Sizes | null = null): RecordedLine {
  return {
    name: "main",
    index: { view: mainView, stream: session.stream().id },
    sizes: { budget: () => budget, rate: () => 1.25 },
    renditions: { words: () => Promise.resolve(null) },
    doings: { hasMemories: false },
    names: {
      needed: (turn: number) => [{ name: `needed-at-${turn}`, tokens: 2, exact: false }],
      forHeader: () => ["auth.ts"],
    },
  } as unknown as RecordedLine;
}

/** A session in which something was said, and sent. */
function begun() {
  const session = new TestSession();
  const block = session.add({ kind: "user" });
  session.send();
  return { session, block };
}

const store = openMemoryStore();
const briefed = { line: "l", window: 200_000, store, isWhole: false };

describe("a briefing", () => {
  test("says which stream it is about, what the log knows, and what the next header may name", async () => {
    const { session } = begun();
    const briefing = await new Briefer().briefing(session.state, lineOf(session), briefed);
    expect(briefing).toMatchObject({
      line: "l",
      seq: session.state.seq,
      turn: 1,
      rate: 1.25,
      names: ["auth.ts"],
    });
    expect(briefing.facts).toMatchObject({ blocks: 1, window: 200_000, exact: false });
  });

  test("names what the turn to come may need", async () => {
    const { session } = begun();
    const { facts } = await new Briefer().briefing(session.state, lineOf(session), briefed);
    expect(facts.needed.map(({ name }) => name)).toEqual(["needed-at-2"]);
  });

  test("says what was counted where it was, and never that more is used than the window holds", async () => {
    const { session } = begun();
    const budget = { used: 250_000, free: 0, turnsLeft: 3 };
    const { facts } = await new Briefer().briefing(session.state, lineOf(session, budget), briefed);
    expect(facts).toMatchObject({ used: 250_000, window: 250_000, free: 0, turnsLeft: 3 });
  });

  test("counts what is shown where nobody has counted yet", async () => {
    const { session } = begun();
    const { facts } = await new Briefer().briefing(session.state, lineOf(session), briefed);
    const { primacy, middle, recency } = facts;
    expect(facts.used).toBe(primacy.tokens + middle.tokens + recency.tokens);
    expect(facts.free).toBe(200_000 - facts.used);
  });
});

describe("what has changed", () => {
  function changed() {
    const { session, block } = begun();
    const briefer = new Briefer();
    const line = lineOf(session);
    const words = async () =>
      (await briefer.briefing(session.state, line, briefed)).facts.changes.map(({ what }) => what);
    const act = (propose: typeof select): void => {
      session.take(propose(session.by("user"), [block]), "user");
      briefer.note(session.frames.at(-1) as (typeof session.frames)[number]);
    };
    return { session, briefer, line, words, act };
  }

  test("is told until a request went up that told of it", async () => {
    const { session, briefer, words, act } = changed();
    expect(await words()).toEqual([]);
    act(select);
    expect(await words()).toEqual(["selected"]);
    const told = session.state.seq;
    act((change, blocks) => pin(change, blocks, "top"));
    briefer.told(told);
    expect(await words()).toEqual(["pinned"]);
    briefer.told(session.state.seq);
    expect(await words()).toEqual([]);
  });

  test("is told again to everybody who was told before, and to nobody else", async () => {
    const { session, briefer, act, line } = changed();
    expect(await briefer.again(session.state, store)).toEqual([]);
    await briefer.briefing(session.state, line, briefed);
    act(select);
    const [again, more] = await briefer.again(session.state, store);
    expect(again).toMatchObject({ line: "l", seq: session.state.seq });
    expect(again?.facts.recency.selected).toHaveLength(1);
    expect(more).toBeUndefined();
  });
});

describe("what is wanted otherwise", () => {
  type Said = { readonly kind: BlockKind; readonly count: number };

  /** Which of some things the desk is told of, once all of them were archived. */
  async function toldOf(...said: readonly Said[]): Promise<readonly number[]> {
    const session = new TestSession();
    const blocks = said.map(({ kind, count }) => {
      const block = session.add({ kind });
      session.append([{ type: "tokens-counted", block, tokens: { count, exact: true } }]);
      return block;
    });
    session.send();
    for (const block of blocks) session.set(block, { archive: { reason: "done" } }, { by: "user" });
    const briefer = new Briefer();
    for (const frame of session.frames) briefer.note(frame);
    const { wanted } = await briefer.briefing(session.state, lineOf(session), briefed);
    return wanted.map(({ block }) => blocks.indexOf(blockId(block)));
  }

  test("is told, but not what stays whole all the same: the model's words, and what is small", async () => {
    expect(await toldOf({ kind: "user", count: 900 }, { kind: "user", count: 12 })).toEqual([0]);
    expect(await toldOf({ kind: "assistant", count: 900 }, { kind: "user", count: 900 })).toEqual([1]);
  });
});
