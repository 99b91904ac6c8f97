import { describe, expect, it } from "vitest";
import { readSession } from "../../../test/support/golden-file.ts";
import { playSession } from "../../../test/support/golden-session.ts";
import { first, scene, second } from "../../../test/support/read-scene.ts";
import { sessionId, unwrap } from "../../base/index.ts";
import { emptyState, replay } from "../../engine/index.ts";
import type { RequestDiff } from "../diff/rows.ts";
import { answerQuestion } from "./answer.ts";
import { type DiffWish, requestDiff } from "./request-diff.ts";

async function played(name: string): Promise<(wish: DiffWish) => Promise<RequestDiff>> {
  const { store, frames } = await playSession(readSession(name));
  const state = unwrap(replay(emptyState(sessionId("golden-1")), frames));
  return async (wish) => unwrap(await requestDiff({ state, store }, wish));
}

const codes = ({ rows }: RequestDiff): readonly string[] =>
  rows.flatMap((row) => (row.type === "same" ? [`= ${row.count}`] : [`${row.type} ${row.reasons[0]?.code}`]));

describe("the diff of a request", () => {
  it("says so where not a byte was changed", async () => {
    const { watched, ask } = await scene();
    const { request } = await watched.talk(first);
    const diff = await ask({ type: "diff", session: "s1", exchange: 1, with: null });
    expect(diff).toMatchObject({ identical: true, firstChange: null, left: 0, with: null });
    expect(diff.bytes).toEqual({ before: request.length, after: request.length });
    expect(diff.tokens.reported).toBe(1_110);
    expect(diff.cache).toEqual({ read: 1_000, write: 100 });
    // These bytes are no request that can be looked into; they are compared all the same.
    expect([diff.isRead, diff.rows]).toEqual([false, []]);
    const raw = await (await played("join"))({ exchange: 1, with: null });
    expect([raw.identical, raw.rows.map(({ type }) => type)]).toEqual([true, ["same"]]);
  });

  it("lists what we have put in, and what is the same between it", async () => {
    const diff = await (await played("one-turn"))({ exchange: 2, with: null });
    expect(codes(diff)).toEqual([
      "= 2",
      ...Array.from({ length: 4 }, () => "inserted tools"),
      "= 1",
      "inserted instructions",
      "inserted header",
      "= 1",
      "mark mark",
      "inserted manifest",
      "= 3",
      "inserted header",
      "= 1",
      "inserted manifest",
    ]);
    expect(diff.identical).toBe(false);
    expect(diff.upstreamId).toMatch(/^msg_/);
    expect(diff.rows[diff.firstChange?.row ?? -1]).toMatchObject({ type: "inserted", isOurs: true });
  });

  it("names the rewrite, what it shows otherwise, and the reasoning that went with it", async () => {
    const diff = await (await played("rewrite"))({ exchange: 4, with: null });
    const changed = diff.rows.find(({ type }) => type === "changed");
    expect(changed).toMatchObject({
      block: 7,
      as: "summarized",
      before: { text: expect.stringContaining("The Slow River") },
      after: { text: "[40 lines: The Slow River, shelf nine]" },
      reasons: [
        { code: "level" },
        { code: "rewrite", words: "Since rewrite 1: the user asked for it.", seq: 9 },
      ],
    });
    const removed = diff.rows.filter(({ type }) => type === "removed");
    expect(removed).toMatchObject([{ kind: "reasoning", reasons: [{ code: "reasoning", seq: 9 }] }, {}]);
  });

  it("compares with the request before", async () => {
    const diffOf = await played("rewrite");
    const goesOn = await diffOf({ exchange: 3, with: "previous" });
    expect(goesOn).toMatchObject({ with: 2, totals: { removed: 0, changed: 0 } });
    expect(goesOn.rows.filter(({ type }) => type !== "same" && type !== "mark").length).toBe(5);
    const rewritten = await diffOf({ exchange: 4, with: 3 });
    expect(rewritten.totals).toMatchObject({ changed: 1, removed: 1 });
    expect(rewritten.firstChange?.block).toBe(7);
  });

  it("estimates as the answers before have taught, and its parts add up to no more than the whole", async () => {
    const diffOf = await played("rewrite");
    for (const exchange of [2, 3, 5]) {
      const { tokens, totals, rows } = await diffOf({ exchange, with: null });
      const reported = tokens.reported ?? 0;
      expect(Math.abs(tokens.estimated - reported) / reported).toBeLessThan(0.03);
      const parts = rows.map((row) =>
        row.type === "same" ? row.tokens : "tokens" in row ? row.tokens.after : 0,
      );
      expect(parts.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(reported);
      expect(totals.sameTokens + totals.insertedTokens).toBeLessThanOrEqual(reported);
    }
  });

  it("is refused by name where there is nothing to compare", async () => {
    const { watched, library } = await scene();
    await watched.talk(first);
    await watched.talk({ ...second, exchange: { rendering: "managed" } });
    const code = async (exchange: number, other: DiffWish["with"]) => {
      const answer = await answerQuestion(library, { type: "diff", session: "s1", exchange, with: other });
      return answer.ok ? null : answer.error.code;
    };
    expect(await code(9, null)).toBe("AP_EXCHANGE_UNKNOWN");
    expect(await code(1, 9)).toBe("AP_EXCHANGE_UNKNOWN");
    expect(await code(1, "previous")).toBe("AP_QUERY_INVALID");
    expect(await code(2, null)).toBe("AP_BODY_UNKNOWN");
  });
});
