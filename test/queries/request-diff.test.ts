import { describe, expect, it } from "vitest";
import { sessionId, unwrap } from "../../src/base/index.ts";
import { emptyState, replayFrames } from "../../src/engine/index.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import type { RequestDiff } from "../../src/queries/answers/diff-answers.ts";
import { type DiffSelector, requestDiff } from "../../src/queries/diff/request-diff.ts";
import { playSession } from "../golden/play-session.ts";
import { readSession } from "../golden/session-file.ts";
import { first, scene, second } from "../support/query-scene.ts";

async function playAndDiff(name: string): Promise<(selector: DiffSelector) => Promise<RequestDiff>> {
  const { store, frames } = await playSession(readSession(name));
  const state = unwrap(replayFrames(emptyState(sessionId("golden-1")), frames));
  return async (selector) => unwrap(await requestDiff({ state, store }, selector));
}

const codes = ({ rows }: RequestDiff): readonly string[] =>
  rows.flatMap((row) => (row.type === "same" ? [`= ${row.count}`] : [`${row.type} ${row.reasons[0]?.code}`]));

describe("the diff of a request", () => {
  it("reports identical bodies", async () => {
    const { watched, ask } = await scene();
    const { request } = await watched.talk(first);
    const diff = await ask({ type: "diff", session: "s1", exchange: 1, with: null });
    expect(diff).toMatchObject({ identical: true, firstChange: null, left: 0, with: null });
    expect(diff.bytes).toEqual({ before: request.length, after: request.length });
    expect(diff.tokens.reported).toBe(1_110);
    expect(diff.cache).toEqual({ read: 1_000, write: 100 });
    // These bytes cannot be parsed as a request; they are still compared.
    expect([diff.isRead, diff.rows]).toEqual([false, []]);
    const raw = await (await playAndDiff("join"))({ exchange: 1, with: null });
    expect([raw.identical, raw.rows.map(({ type }) => type)]).toEqual([true, ["same"]]);
  });

  it("lists our insertions, and what is the same between them", async () => {
    const diff = await (await playAndDiff("one-turn"))({ exchange: 2, with: null });
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

  it("names the rewrite, the blocks it changed, and the reasoning it dropped", async () => {
    const diff = await (await playAndDiff("rewrite"))({ exchange: 4, with: null });
    const changed = diff.rows.find(({ type }) => type === "changed");
    expect(changed).toMatchObject({
      block: 7,
      as: "placeholder",
      before: { text: expect.stringContaining("The Slow River") },
      after: { text: "[k7f3 #7 result ~0.4k pruned (counted) -> expand #7]" },
      reasons: [
        { code: "pruned" },
        { code: "rewrite", words: "Since rewrite 1: the user asked for it.", seq: 10 },
      ],
    });
    const removed = diff.rows.filter(({ type }) => type === "removed");
    expect(removed).toMatchObject([{ kind: "reasoning", reasons: [{ code: "reasoning", seq: 10 }] }, {}]);
  });

  it("compares with the previous request", async () => {
    const diffOf = await playAndDiff("rewrite");
    const goesOn = await diffOf({ exchange: 3, with: "previous" });
    expect(goesOn).toMatchObject({ with: 2, totals: { removed: 0, changed: 0 } });
    expect(goesOn.rows.filter(({ type }) => type !== "same" && type !== "mark").length).toBe(5);
    const rewritten = await diffOf({ exchange: 4, with: 3 });
    expect(rewritten.totals).toMatchObject({ changed: 1, removed: 1 });
    expect(rewritten.firstChange?.block).toBe(7);
  });

  it("estimates with the rate of earlier answers, and its parts never exceed the whole", async () => {
    const diffOf = await playAndDiff("rewrite");
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

  it("is refused if there is nothing to compare", async () => {
    const { watched, library: deps } = await scene();
    await watched.talk(first);
    await watched.talk({ ...second, exchange: { rendering: "managed" } });
    const code = async (exchange: number, other: DiffSelector["with"]) => {
      const answer = await answerQuestion(deps, { type: "diff", session: "s1", exchange, with: other });
      return answer.ok ? null : answer.error.code;
    };
    expect(await code(9, null)).toBe("AP_EXCHANGE_UNKNOWN");
    expect(await code(1, 9)).toBe("AP_EXCHANGE_UNKNOWN");
    expect(await code(1, "previous")).toBe("AP_QUERY_INVALID");
    expect(await code(2, null)).toBe("AP_BODY_UNKNOWN");
  });
});
