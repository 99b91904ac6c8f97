import { describe, expect, it } from "vitest";
import { answerQuestion } from "../../src/host/answer-question.ts";
import { first, scene, second } from "../support/query-scene.ts";

const select = (...blocks: number[]) => ({ type: "select", session: "s1", blocks }) as const;

describe("a selection", () => {
  it("becomes exactly the named blocks, and the model will read it", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    await watched.talk(second);
    const answer = await ask(select(3, 1));
    expect(answer).toEqual({
      session: "s1",
      seq: 6,
      stream: 1,
      mode: "observe",
      selected: [
        { block: 1, name: null, told: true },
        { block: 3, name: null, told: true },
      ],
      told: "[user-selected] #1 #3",
      skipped: [],
      durable: true,
    });
    const other = await ask(select(2));
    expect([other.selected.map(({ block }) => block), other.seq]).toEqual([[2], 7]);
    const { skipped, durable: _, ...rest } = other;
    expect(skipped).toEqual([]);
    expect(await ask({ type: "selection", session: "s1" })).toEqual(rest);
    const { blocks } = await ask({ type: "state", session: "s1" });
    expect(blocks.filter(({ selected }) => selected).map(({ n }) => n)).toEqual([2]);
  });

  it("is idempotent, and an empty one clears it", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    const once = await ask(select(1));
    expect(await ask(select(1, 1))).toEqual(once);
    const cleared = await ask(select());
    expect([cleared.selected, cleared.told, cleared.seq]).toEqual([[], null, once.seq + 1]);
    expect(await ask(select())).toEqual(cleared);
  });

  it("is one step of the user in the log", async () => {
    const { watched, ask, store } = await scene();
    await watched.talk(first);
    const { seq } = await ask(select(1, 2));
    const frames = await store.frames({ session: watched.log.state().session, after: seq - 1, limit: 9 });
    expect(frames.ok && frames.value).toMatchObject([{ seq, actor: "user", cause: { type: "command" } }]);
    expect(watched.log.state().steps.size).toBeGreaterThan(0);
  });

  it("skips unknown blocks and names them", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    const { selected, skipped } = await ask(select(2, 98, 99));
    expect(selected.map(({ block }) => block)).toEqual([2]);
    expect(skipped.map(({ block, code }) => [block, code])).toEqual([
      [98, "AP_BLOCK_UNKNOWN"],
      [99, "AP_BLOCK_UNKNOWN"],
    ]);
    expect(skipped[0]?.message).toContain("#98");
  });

  it("of unknown blocks only is refused with the nearest ones, and the old one stays", async () => {
    const { watched, ask, library: deps } = await scene();
    await watched.talk(first);
    const before = await ask(select(1));
    const answer = await answerQuestion(deps, select(99, 7));
    expect(answer).toMatchObject({ ok: false, error: { code: "AP_BLOCKS_UNKNOWN" } });
    expect(!answer.ok && answer.error.message).toBe(
      "There is no block #99, #7 in this view; the nearest are #1, #2.",
    );
    const { skipped: _, durable: __, ...rest } = before;
    expect(await ask({ type: "selection", session: "s1" })).toEqual(rest);
  });

  it.each([[[1.5]], [[-1]], [[Number.NaN]], [Array.from({ length: 1_001 }, (_, at) => at + 1)]])(
    "of %j is refused and changes nothing",
    async (blocks) => {
      const { watched, library: deps } = await scene();
      await watched.talk(first);
      const answer = await answerQuestion(deps, select(...blocks));
      expect(answer).toMatchObject({ error: { code: "AP_INPUT_INVALID" } });
      expect(watched.log.state().seq).toBe(3);
    },
  );

  it("in an unknown stream or session is refused", async () => {
    const { library: deps } = await scene();
    const stream = await answerQuestion(deps, { ...select(1), stream: 9 });
    expect(stream).toMatchObject({ error: { code: "AP_STREAM_UNKNOWN" } });
    const session = await answerQuestion(deps, { ...select(1), session: "other" });
    expect(session).toMatchObject({ error: { code: "AP_SESSION_UNKNOWN" } });
  });
});
