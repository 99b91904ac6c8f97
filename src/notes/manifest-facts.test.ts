import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TestSession, type Wish } from "../../test/support/engine.ts";
import { o200k } from "../../test/support/o200k.ts";
import { intents, live } from "../../test/support/random-session.ts";
import { detailed } from "../../test/support/render-facts.ts";
import { detailTokensMin, type FactsInput, type ManifestFacts, manifestFacts } from "../awareness/index.ts";
import { type BlockId, must, turnOf } from "../base/index.ts";
import type { Shown } from "../engine/frames/index.ts";
import { now } from "../engine/moment/index.ts";
import { manifestText } from "./manifest.ts";

const asked: FactsInput = {
  window: 200_000,
  used: 50_000,
  names: [],
  coldNames: [],
  since: [],
  needsCandidates: true,
};

type Situation = Wish & { readonly tokens?: number; readonly shown?: Shown; readonly topic?: string };

/** Blocks of a run that is over, shown as said, and the first word of the next run. */
function talk(...blocks: readonly Situation[]): TestSession {
  const session = new TestSession();
  session.run();
  const shows = blocks.map(({ tokens = 1_000, shown = "original", topic, ...wish }) => {
    const block = session.add(wish);
    session.append([{ type: "tokens-counted", block, tokens: { count: tokens, exact: true } }]);
    if (topic !== undefined) session.append([{ type: "topics-set", block, from: [], to: [topic] }]);
    return { block, as: shown };
  });
  session.send({ shows: shows.filter(({ as }) => as !== "absent") });
  session.answer();
  session.run();
  return session;
}

function factsOf(session: TestSession, over: Partial<FactsInput> = {}): ManifestFacts {
  return manifestFacts(now(session.state), session.view(), { ...asked, ...over });
}

const id = (block: number) => block as BlockId;

describe("the facts of a manifest", () => {
  it("name a memory by its topic and the number by which it is changed, and say who made it", () => {
    const made = { kind: "memory", tokens: 40 } as const;
    const session = talk(
      { ...made, topic: "ports", taint: "model" },
      { ...made, taint: "untrusted" },
      { ...made, taint: "user" },
    );
    const { primacy } = factsOf(session);
    expect(primacy.named.map(({ name }) => name)).toEqual(["ports (#1)", "memory #2", "memory #3"]);
    expect([primacy.blocks, primacy.tokens]).toEqual([3, 120]);
    for (const block of [1, 2, 3]) session.set(id(block), { pin: "bottom" });
    expect(factsOf(session).recency.counts).toMatchObject({ assistant: 2, user: 1, tool: 0 });
  });

  it("count blocks where they belong", () => {
    const session = talk(
      { kind: "system", topic: "rules" },
      { kind: "user" },
      { kind: "reasoning" },
      { kind: "assistant" },
      { kind: "tool-call" },
      { kind: "tool-result", taint: "untrusted" },
      { kind: "media", taint: "untrusted" },
    );
    session.add({ kind: "user" });
    const { blocks, primacy, middle, recency, cold } = factsOf(session);
    expect(blocks).toBe(8);
    expect(primacy).toEqual({
      blocks: 1,
      tokens: 1_000,
      exact: true,
      named: [{ name: "rules", tokens: 1_000, pin: "none" }],
    });
    expect(middle).toMatchObject({ blocks: 6, tokens: 6_000, exact: true, user: 1, assistant: 2, tool: 3 });
    // The last is new: it is sent with this turn, and nobody has counted it yet.
    expect(recency).toMatchObject({ blocks: 1, tokens: 0, exact: false });
    expect(cold).toEqual({ blocks: 0, tokens: 0, exact: true, names: [] });
  });

  it("name a system text that has no name of its own, and pins", () => {
    const session = talk({ kind: "system" }, { kind: "user" });
    session.set(id(2), { pin: "top" });
    expect(factsOf(session).primacy.named).toEqual([
      { name: "system prompt", tokens: 1_000, pin: "none" },
      { name: "#2", tokens: 1_000, pin: "top" },
    ]);
  });

  it("count what is shown: an archived block takes its room until the next rewrite", () => {
    const session = talk({}, {}, { shown: "placeholder" });
    for (const block of [1, 3]) session.set(id(block), { archive: { reason: "done" } });
    const { middle, cold, ranges } = factsOf(session);
    expect(middle).toMatchObject({ blocks: 2, tokens: 2_000, pending: { blocks: 1, tokens: 1_000 } });
    expect(cold).toMatchObject({ blocks: 1, tokens: 1_000 });
    expect(ranges).toEqual([{ from: 3, to: 3, reasons: ["done"], signatures: 0 }]);
  });

  it("count a level by its own text", () => {
    const session = talk({}, {});
    const content = session.place(id(1)).block.content;
    const to = { content, tokens: { count: 200, exact: false } };
    session.append([{ type: "rendition-set", block: id(1), level: "trimmed", from: null, to }]);
    session.set(id(2), { level: "minimal" });
    session.send({
      below: null,
      shows: [1, 2].map((block) => ({ block: id(block), as: "trimmed" as const })),
    });
    const { middle, expandable } = factsOf(session, { free: 3_000 });
    // The second has no text at that level, so it counts as what it is.
    expect(middle).toMatchObject({ tokens: 1_200, exact: false, trimmed: 2 });
    // It is wanted lower still, but nothing of it would go.
    expect(middle.pending.blocks).toBe(1);
    expect(expandable).toBe(2);
    expect(factsOf(session, { free: 1_599 }).expandable).toBe(0);
    expect(factsOf(session, { window: null }).expandable).toBe(0);
  });

  it("add up to no more than a provider has counted: the parts are made smaller, a zone as a whole", () => {
    const session = talk({ kind: "system", tokens: 999 }, ...Array(7).fill({ tokens: 333 }));
    session.set(id(2), { archive: { reason: "done" } });
    const { primacy, middle } = factsOf(session, { used: 1_000 });
    expect(primacy).toMatchObject({ tokens: 300, exact: false, named: [{ tokens: 300 }] });
    // Seven times what each block comes to would be one in a hundred less.
    expect(middle).toMatchObject({ tokens: 700, exact: false, pending: { blocks: 1, tokens: 100 } });
    expect(factsOf(session, { used: 3_330 }).middle).toMatchObject({ tokens: 2_331, exact: true });
    expect(factsOf(session, { used: 0 }).middle).toMatchObject({ tokens: 2_331, exact: true });
  });

  it("leave out what the client has left behind", () => {
    const session = talk({}, {});
    session.send({ below: null, shows: [{ block: id(2), as: "original" }] });
    expect(factsOf(session)).toMatchObject({ blocks: 1, middle: { blocks: 1 }, cold: { blocks: 0 } });
  });

  it("tell what expires soon and is worth telling", () => {
    const large = { tokens: detailTokensMin };
    const small = { tokens: detailTokensMin - 1 };
    const session = talk(
      ...[5, 6, 7].map((span) => ({ span, ...large })),
      { span: 3, ...small },
      { span: 5, ...large },
      {},
    );
    session.set(id(5), { pin: "bottom" });
    expect(factsOf(session).expiring).toEqual([{ block: 1, at: 6 }]);
    session.turns(1);
    expect(factsOf(session).expiring).toEqual([
      { block: 1, at: 6 },
      { block: 2, at: 7 },
    ]);
  });

  it("offer neighbours that nobody refers to any more, largest first, never the user's words", () => {
    const session = talk(
      { kind: "tool-call", tokens: 100 },
      { kind: "tool-result", topic: "test output", tokens: 4_000 },
      { kind: "user", tokens: 9_000 },
      { kind: "reasoning", tokens: 6_000 },
      { kind: "assistant", tokens: 800 },
      { kind: "user", tokens: 10 },
      { kind: "tool-result", tokens: 999 },
    );
    expect(factsOf(session).candidates).toEqual([]);
    session.turns(6);
    session.set(id(5), { reference: { turn: turnOf(2), count: 1 } });
    const pinned = session.add({ kind: "tool-result" });
    session.append([{ type: "tokens-counted", block: pinned, tokens: { count: 9_000, exact: true } }]);
    session.set(pinned, { pin: "bottom" });
    session.turns(1);
    expect(factsOf(session).candidates).toEqual([
      { from: 4, to: 5, what: "reasoning", tokens: 6_800, since: 2 },
      { from: 1, to: 2, what: "test output", tokens: 4_100, since: 1 },
    ]);
  });

  it("list the selection, also what is cold", () => {
    const session = talk({ topic: "auth flow" }, { shown: "placeholder" }, {});
    session.set(id(2), { archive: { reason: "done" }, selection: true });
    session.set(id(1), { selection: true });
    expect(factsOf(session).recency.selected).toEqual([
      { block: 1, name: "auth flow" },
      { block: 2, name: null },
    ]);
  });

  it("pass on what only the caller knows; what is free is the rest of the window", () => {
    const session = talk({});
    const since = [{ actor: "user", what: "pinned", blocks: [1], tokens: 0, reason: "" }] as const;
    const over = { names: ["a.ts"], coldNames: ["b.ts"], since, task: "fix it", turnsLeft: 7, exact: true };
    expect(factsOf(session, over)).toMatchObject({
      used: 50_000,
      window: 200_000,
      free: 150_000,
      exact: true,
      turnsLeft: 7,
      changes: since,
      middle: { names: ["a.ts"] },
      cold: { names: ["b.ts"] },
      recency: { task: "fix it" },
    });
    expect(factsOf(session, { free: 140_000 }).free).toBe(140_000);
    expect(factsOf(session, { window: null }).free).toBeNull();
    expect(factsOf(session, { used: 300_000 }).free).toBe(0);
  });
});

it("in any session, zones add up to the blocks of the window, and speakers to the middle", () => {
  fc.assert(
    fc.property(intents(60), (list) => {
      const state = must(live(list).states.at(-1), "a history has a state");
      for (const [, view] of state.views.entries()) {
        const facts = manifestFacts(now(state), view, asked);
        const { primacy, middle, recency } = facts;
        expect(primacy.blocks + middle.blocks + recency.blocks).toBe(facts.blocks);
        expect(middle.user + middle.assistant + middle.tool).toBe(middle.blocks);
        expect(manifestFacts(now(state), view, asked)).toEqual(facts);
        const small = manifestFacts(now(state), view, { ...asked, used: 100 });
        expect(small.primacy.tokens + small.middle.tokens + small.recency.tokens).toBeLessThanOrEqual(100);
      }
    }),
    { numRuns: 60 },
  );
});

/** A long session of the ordinary kind: questions, calls, results, a few of each archived or lowered. */
function longTalk(count: number): TestSession {
  const session = new TestSession();
  const kinds = ["user", "reasoning", "tool-call", "tool-result", "assistant"] as const;
  const shows: { block: BlockId; as: Shown }[] = [];
  for (let made = 0; made < count; made += 1) {
    if (made % 90 === 0) session.reserve();
    if (made % 50 === 0) session.run();
    const block = session.add({ kind: made === 0 ? "system" : (kinds[made % 5] ?? "user"), span: 20 });
    const topic = { type: "topics-set", block, from: [], to: [`src/module${made}/file.ts`] } as const;
    const tokens = {
      type: "tokens-counted",
      block,
      tokens: { count: 50 + (made % 7) * 300, exact: false },
    } as const;
    session.append([topic, tokens]);
    const isOld = made % 3 === 0 && made < count / 2;
    if (isOld) session.set(block, { archive: { reason: `stale output ${made}` } });
    shows.push({ block, as: isOld ? "placeholder" : made % 11 === 0 ? "trimmed" : "original" });
  }
  session.send({ shows });
  session.answer();
  return session;
}

describe("a manifest of a long session", () => {
  it.each([10, 500, 5_000])("of %d blocks keeps to its tokens", (count) => {
    const session = longTalk(count);
    const names = Array.from({ length: 40 }, (_, at) => `src/session/ledger/stream-ledger-${at}.ts`);
    const over = { names, coldNames: names, task: "make the login page faster on slow phones" };
    const facts = factsOf(session, over);
    expect(facts.blocks + facts.cold.blocks).toBe(count);
    const short = o200k(manifestText(facts, { ...detailed, detail: "summary" }));
    expect(short).toBeLessThanOrEqual(120);
    expect(o200k(manifestText(facts, detailed))).toBeLessThanOrEqual(500);
  });
});
