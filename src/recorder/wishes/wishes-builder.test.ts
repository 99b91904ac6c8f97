import { describe, expect, test } from "vitest";
import { mainView, TestSession } from "../../../test/support/engine.ts";
import { blockId } from "../../base/index.ts";
import type { BlockKind } from "../../engine/frames/index.ts";
import { changes } from "../../engine/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import type { RecordedStream } from "../recorded-stream.ts";
import { WishesBuilder } from "./wishes-builder.ts";

type Budget = { readonly used: number; readonly free: number; readonly turnsLeft: number | null };

/** The main stream as it is recorded, with a budget. */
function streamOf(session: TestSession, budget: Budget | null = null): RecordedStream {
  return {
    name: "main",
    index: { view: mainView, stream: session.stream().id },
    sizes: { budget: () => budget, rate: () => 1.25 },
    renditions: { textAt: () => Promise.resolve(null) },
    actions: { hasMemories: false },
    names: {
      forManifest: (turn: number) => [{ name: `needed-at-${turn}`, tokens: 2, exact: false }],
      forHeader: () => ["auth.ts"],
    },
  } as unknown as RecordedStream;
}

/** A session with one message that was sent. */
function startedSession() {
  const session = new TestSession();
  const block = session.add({ kind: "user" });
  session.send();
  return { session, block };
}

const store = openMemoryStore();
const input = { streamKey: "l", window: 200_000, store, isWhole: false };

describe("wishes", () => {
  test("name the stream, its seq and turn, and the names for the next header", async () => {
    const { session } = startedSession();
    const wishes = await new WishesBuilder().build(session.state, streamOf(session), input);
    expect(wishes).toMatchObject({
      streamKey: "l",
      seq: session.state.seq,
      turn: 1,
      tokenRate: 1.25,
      headerNames: ["auth.ts"],
    });
    expect(wishes.facts).toMatchObject({ blocks: 1, window: 200_000, exact: false });
  });

  test("contain the names that the next turn may need", async () => {
    const { session } = startedSession();
    const { facts } = await new WishesBuilder().build(session.state, streamOf(session), input);
    expect(facts.needed.map(({ name }) => name)).toEqual(["needed-at-2"]);
  });

  test("use the counted budget, and never more than the window holds", async () => {
    const { session } = startedSession();
    const budget = { used: 250_000, free: 0, turnsLeft: 3 };
    const { facts } = await new WishesBuilder().build(session.state, streamOf(session, budget), input);
    expect(facts).toMatchObject({ used: 250_000, window: 250_000, free: 0, turnsLeft: 3 });
  });

  test("estimate the shown blocks if the provider has not counted yet", async () => {
    const { session } = startedSession();
    const { facts } = await new WishesBuilder().build(session.state, streamOf(session), input);
    const { primacy, middle, recency } = facts;
    expect(facts.used).toBe(primacy.tokens + middle.tokens + recency.tokens);
    expect(facts.free).toBe(200_000 - facts.used);
  });
});

describe("changes", () => {
  function changed() {
    const { session, block } = startedSession();
    const builder = new WishesBuilder();
    const stream = streamOf(session);
    const reportedChanges = async () =>
      (await builder.build(session.state, stream, input)).facts.changes.map(({ what }) => what);
    const act = (propose: typeof changes.select): void => {
      session.take(propose(session.by("user"), [block]), "user");
      builder.noteFrame(session.frames.at(-1) as (typeof session.frames)[number]);
    };
    return { session, builder, stream, reportedChanges, act };
  }

  test("are in the wishes until a request has reported them", async () => {
    const { session, builder, reportedChanges, act } = changed();
    expect(await reportedChanges()).toEqual([]);
    act(changes.select);
    expect(await reportedChanges()).toEqual(["selected"]);
    const reported = session.state.seq;
    act((change, blocks) => changes.pin(change, blocks, "top"));
    builder.noteReported(reported);
    expect(await reportedChanges()).toEqual(["pinned"]);
    builder.noteReported(session.state.seq);
    expect(await reportedChanges()).toEqual([]);
  });

  test("rebuild the wishes of streams built before, and of no others", async () => {
    const { session, builder, act, stream } = changed();
    expect(await builder.rebuildAll(session.state, store)).toEqual([]);
    await builder.build(session.state, stream, input);
    act(changes.select);
    const [again, more] = await builder.rebuildAll(session.state, store);
    expect(again).toMatchObject({ streamKey: "l", seq: session.state.seq });
    expect(again?.facts.recency.selected).toHaveLength(1);
    expect(more).toBeUndefined();
  });
});

describe("level wishes", () => {
  type BlockSize = { readonly kind: BlockKind; readonly count: number };

  /** Indexes of the blocks with a wish, after all of them were archived. */
  async function wishedBlocks(...sizes: readonly BlockSize[]): Promise<readonly number[]> {
    const session = new TestSession();
    const blocks = sizes.map(({ kind, count }) => {
      const block = session.add({ kind });
      session.append([{ type: "tokens-counted", block, tokens: { count, exact: true } }]);
      return block;
    });
    session.send();
    for (const block of blocks) session.set(block, { archive: { reason: "done" } }, { by: "user" });
    const builder = new WishesBuilder();
    for (const frame of session.frames) builder.noteFrame(frame);
    const { levels } = await builder.build(session.state, streamOf(session), input);
    return levels.map(({ block }) => blocks.indexOf(blockId(block)));
  }

  test("leave out blocks that stay whole anyway: output of the model, and small ones", async () => {
    expect(await wishedBlocks({ kind: "user", count: 900 }, { kind: "user", count: 12 })).toEqual([0]);
    expect(await wishedBlocks({ kind: "assistant", count: 900 }, { kind: "user", count: 900 })).toEqual([1]);
  });
});
