import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { o200k } from "../../test/support/o200k.ts";
import { detailed, emptyFacts, hostileText, nonce, shownFacts } from "../../test/support/render-facts.ts";
import { numRuns } from "../../test/support/runs.ts";
import { changeWords, type ManifestFacts } from "../awareness/index.ts";
import { type ManifestOptions, manifestText, manifestTokensMax } from "./manifest.ts";
import { continuesOwnLine, isOwnLine } from "./own-line.ts";

const summary: ManifestOptions = { ...detailed, detail: "summary" };

describe("the manifest", () => {
  it("in detail is the agreed one", () => {
    expect(manifestText(shownFacts, detailed).split("\n")).toEqual([
      "[CONTEXT MANIFEST k7f3 turn 34 | 42 blocks | 140k/200k tokens, 70%]",
      "PRIMACY 3 blocks 3.2k, pinned: system prompt 1.8k [pinned:top], architecture overview 0.8k [pinned:top], " +
        "code standards 0.6k",
      "MIDDLE 34 blocks 128k: 12 user, 14 assistant, 8 tool | 6 trimmed, 2 summarized, 3 pending (-9k) | " +
        "topics: auth.ts login flow, schema.sql, POST /sessions",
      'RECENCY 5 blocks 8.4k: task "implement feature X" | [user-selected] #12 (auth flow) #27 (db schema)',
      "COLD 12 blocks 61k: project setup, dependency decisions -> aperture_recall",
      "EXPIRING #43 at 37, #45 at 38 | CANDIDATES #18..#22 test output 9.8k (never used since 24)",
      'SINCE LAST TURN: you archived #3..#9 (-6.2k, "setup done"); user pinned #31; #29 superseded by #41',
      "BUDGET 60k free, safe to expand ~3 compressed blocks",
    ]);
  });

  it("in short is the agreed one", () => {
    const facts: ManifestFacts = {
      ...shownFacts,
      middle: { ...shownFacts.middle, names: ["auth.ts", "schema.sql"] },
      expiring: [{ block: 43, at: 37 }],
      changes: shownFacts.changes.slice(1, 2),
    };
    const text = manifestText(facts, summary);
    expect(text.split("\n")).toEqual([
      "[CONTEXT MANIFEST k7f3 turn 34 | 42 blocks | 140k/200k tokens, 70%]",
      "PRIMACY 3 3.2k | MIDDLE 34 128k, 3 pending (-9k): auth.ts, schema.sql | RECENCY 5 8.4k | COLD 12 61k",
      "[user-selected] #12 #27 | EXPIRING #43 at 37 | SINCE LAST TURN: user pinned #31 | BUDGET 60k free",
    ]);
    expect(o200k(text)).toBeLessThanOrEqual(120);
  });

  it("in short is held shorter where all but it is read for next to nothing", () => {
    const needed = Array.from({ length: 60 }, (_, at) => ({ name: `src/needed_${at}.ts`, tokens: 7 }));
    const names = Array.from({ length: 16 }, (_, at) => `topic_${at}.ts`);
    const { blocks, used, window, middle } = shownFacts;
    const facts: ManifestFacts = { ...emptyFacts, blocks, used, window, middle, needed };
    const size = (read: number, of: ManifestFacts): number => o200k(manifestText(of, { ...summary, read }));
    const named = { ...facts, needed: [], middle: { ...facts.middle, names } };
    for (const one of [facts, named]) {
      expect(size(0.05, one)).toBe(size(0.1, one));
      expect(size(0.025, one)).toBeLessThanOrEqual(0.9 * size(0.1, one));
    }
    const long = (read: number): string => manifestText(facts, { ...detailed, read });
    expect(long(0.025)).toBe(long(0.1));
  });

  it("leaves out what is not there", () => {
    expect(manifestText(emptyFacts, detailed)).toBe("[CONTEXT MANIFEST k7f3 turn 34 | 0 blocks | ~0 tokens]");
    expect(manifestText(emptyFacts, summary)).toBe("[CONTEXT MANIFEST k7f3 turn 34 | 0 blocks | ~0 tokens]");
    const early = { ...emptyFacts, blocks: 1, recency: { ...emptyFacts.recency, blocks: 1, tokens: 40 } };
    expect(manifestText(early, summary).split("\n")[1]).toBe("RECENCY 1 40");
    expect(manifestText(early, detailed).split("\n")[1]).toBe("RECENCY 1 block 40");
  });

  it("has what there is to name with recency, where one run is everything", () => {
    const { middle, recency } = shownFacts;
    const counts = { user: 2, assistant: 2, tool: 1, trimmed: 1, summarized: 0, minimal: 0 };
    const none = { ...emptyFacts.middle, pending: middle.pending, names: middle.names };
    const facts = { ...shownFacts, middle: none, recency: { ...recency, counts, task: null } };
    expect(manifestText(facts, detailed)).toContain(
      "\nRECENCY 5 blocks 8.4k: 2 user, 2 assistant, 1 tool | 1 trimmed, 3 pending (-9k) | topics: auth.ts login flow, " +
        "schema.sql, POST /sessions | [user-selected]",
    );
    expect(manifestText(facts, summary)).toContain(
      "| RECENCY 5 8.4k, 3 pending (-9k): auth.ts login flow, schema.sql, POST /sessions | COLD 12 61k\n",
    );
  });

  it("does not tell who said what where that does not add up", () => {
    const facts = { ...shownFacts, middle: emptyFacts.middle, recency: { ...shownFacts.recency, blocks: 6 } };
    expect(manifestText(facts, detailed)).toContain(
      'RECENCY 6 blocks 8.4k: task "implement feature X" | [user',
    );
  });

  it("does not say how full the window is where that is hidden", () => {
    const text = manifestText(shownFacts, { ...detailed, fill: "hidden" });
    expect(text).toContain("[CONTEXT MANIFEST k7f3 turn 34 | 42 blocks]\n");
    expect(text).not.toMatch(/200k|%|free/);
    expect(text).toContain("BUDGET safe to expand");
  });

  it("names no tool that is not there", () => {
    const { recall: _, ...without } = detailed;
    expect(manifestText(shownFacts, without)).not.toContain("aperture_recall");
  });

  it("lists ranges, and how long the rest lasts", () => {
    const ranges = [{ from: 10, to: 25, reasons: ["stale tool output", "other"], signatures: 7 }];
    const text = manifestText({ ...shownFacts, ranges, turnsLeft: 9 }, detailed);
    expect(text).toContain('\nPRUNED messages 10..25 ("stale tool output", 7 signatures)\n');
    expect(text).toContain("BUDGET 60k free, ~9 turns, safe");
  });

  it("marks estimates", () => {
    const facts = { ...shownFacts, exact: false, cold: { ...shownFacts.cold, exact: false } };
    const text = manifestText(facts, summary);
    expect(text).toContain("| ~140k/200k tokens, 70%]");
    expect(text).toContain("COLD 12 ~61k");
    expect(text).toContain("BUDGET ~60k free");
  });

  it("adds up as it is written: used and free are the window", () => {
    const size = (text: string | undefined) => Number.parseFloat(text ?? "NaN");
    fc.assert(
      fc.property(fc.integer({ min: 20_000, max: 180_000 }), (used) => {
        const text = manifestText({ ...shownFacts, used, free: 200_000 - used }, summary);
        const [, head] = /\| ([\d.]+)k\/200k/.exec(text) ?? [];
        const [, free] = /BUDGET ([\d.]+)k free/.exec(text) ?? [];
        expect(size(head) + size(free)).toBe(200);
      }),
    );
  });
});

describe("variants", () => {
  it("wrap the same facts", () => {
    const rows = manifestText(shownFacts, detailed).split("\n").slice(1);
    const xml = manifestText(shownFacts, { ...detailed, variant: "xml" }).split("\n");
    expect(xml[0]).toBe('<context-manifest mark=k7f3 about="turn 34 | 42 blocks | 140k/200k tokens, 70%">');
    expect(xml.slice(1, -1)).toEqual(rows);
    expect(xml.at(-1)).toBe("</context-manifest>");
    const markdown = manifestText(shownFacts, { ...detailed, variant: "markdown" }).split("\n");
    expect(markdown).toEqual([
      "### CONTEXT MANIFEST k7f3 turn 34 | 42 blocks | 140k/200k tokens, 70%",
      ...rows.map((row) => `- ${row}`),
    ]);
  });

  it("write what would end them in another way", () => {
    const middle = { ...shownFacts.middle, names: ["Map<K> & `x`"] };
    expect(manifestText({ ...shownFacts, middle }, { ...detailed, variant: "xml" })).toContain(
      "topics: Map&lt;K> &amp; `x`",
    );
    expect(manifestText({ ...shownFacts, middle }, { ...detailed, variant: "markdown" })).toContain(
      "topics: Map<K> & 'x'",
    );
  });
});

const count = fc.nat(3_000_000);
const zone = { blocks: fc.nat(5_000), tokens: count, exact: fc.boolean() };
const few = fc.nat(5_000);
const counts = { user: few, assistant: few, tool: few, trimmed: few, summarized: few, minimal: few };
const texts = fc.array(hostileText, { maxLength: 20 });

/** Facts of any size, with anything written in them. */
const anyFacts: fc.Arbitrary<ManifestFacts> = fc.record({
  blocks: fc.nat(5_000),
  used: count,
  window: fc.option(count),
  exact: fc.boolean(),
  primacy: fc.record({
    ...zone,
    named: fc.array(
      fc.record({ name: hostileText, tokens: count, pin: fc.constantFrom("none", "top", "bottom") }),
      { maxLength: 12 },
    ),
  }),
  middle: fc.record({
    ...zone,
    ...counts,
    pending: fc.record({ blocks: fc.nat(5_000), tokens: fc.integer({ min: -3_000_000, max: 3_000_000 }) }),
    names: texts,
  }),
  recency: fc.record({
    ...zone,
    counts: fc.record(counts),
    task: fc.option(hostileText),
    selected: fc.array(fc.record({ block: fc.nat(5_000), name: fc.option(hostileText) }), { maxLength: 40 }),
  }),
  cold: fc.record({ ...zone, names: texts }),
  expiring: fc.array(fc.record({ block: fc.nat(5_000), at: fc.integer({ min: 35, max: 39 }) }), {
    maxLength: 60,
  }),
  candidates: fc.array(
    fc.record({
      from: fc.nat(5_000),
      to: fc.nat(5_000),
      what: hostileText,
      tokens: count,
      since: fc.nat(34),
    }),
    { maxLength: 12 },
  ),
  changes: fc.array(
    fc.record({
      actor: fc.constantFrom("user", "client", "model", "sidecar", "policy"),
      what: fc.constantFrom(...changeWords),
      blocks: fc.array(fc.nat(5_000), { minLength: 1, maxLength: 30 }),
      tokens: count,
      reason: hostileText,
      by: fc.nat(5_000),
    }),
    { maxLength: 12 },
  ),
  free: fc.option(count),
  turnsLeft: fc.option(fc.nat(5_000)),
  expandable: fc.nat(5_000),
  ranges: fc.array(
    fc.record({ from: fc.nat(5_000), to: fc.nat(5_000), reasons: texts, signatures: fc.nat(5_000) }),
    { maxLength: 12 },
  ),
  needed: fc.array(fc.record({ name: hostileText, tokens: fc.nat(50) }), {
    maxLength: 12,
  }),
});

const anyOptions: fc.Arbitrary<ManifestOptions> = fc.record({
  nonce: fc.constant(nonce),
  turn: fc.nat(100_000),
  variant: fc.constantFrom("text", "xml", "markdown"),
  detail: fc.constantFrom("summary", "detailed"),
  fill: fc.constantFrom("shown", "hidden"),
  recall: fc.constant("aperture_recall"),
});

it("of any context, with anything written in it, keeps to its tokens and its lines", () => {
  fc.assert(
    fc.property(anyFacts, anyOptions, (facts, options) => {
      const text = manifestText(facts, options);
      expect(o200k(text)).toBeLessThanOrEqual(manifestTokensMax[options.detail]);
      const [first = "", ...rest] = text.split(/[\r\n\u2028\u2029]/);
      expect(isOwnLine(first, nonce)).toBe(true);
      expect(rest.filter((line) => !continuesOwnLine(line))).toEqual([]);
      expect(text.toLowerCase().split(nonce)).toHaveLength(2);
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      if (options.variant === "xml") expect(text.match(/</g)).toHaveLength(2);
    }),
    numRuns(150),
  );
});
