import { describe, expect, test } from "vitest";
import { shownFacts } from "../../test/support/render-facts.ts";
import type { ManifestFacts } from "../awareness/index.ts";
import { hashContent } from "../base/index.ts";
import type { NumberedBlock, Wishes } from "../exchange/index.ts";
import { protocolOf } from "../protocols/index.ts";
import { noWishes } from "./all-wishes.ts";
import { defaultAwareness } from "./awareness-settings.ts";
import { addRoot, emptyTree } from "./ledger-tree.ts";
import { shownWhole } from "./node.ts";
import type { SizedBlock } from "./path-blocks.ts";
import { type PlannedUnit, plannedDefaults } from "./planned-units.ts";
import type { RequestHead } from "./request-head.ts";
import { addUnlogged, dropLogged, noUnlogged, usedTokens } from "./unlogged-blocks.ts";
import { type Carrier, firstTail, type TailInput, type TailState, writeTail } from "./write-tail.ts";

const anthropic = protocolOf({ protocol: "anthropic" });

const block = (id: number, turn = 1, tokens = 100): NumberedBlock => ({
  ...{ block: id, message: 1, turn, kind: "user", tokens, ttl: null },
});

function wishes(over: Partial<Wishes> = {}, facts: Partial<ManifestFacts> = {}): Wishes {
  return {
    streamKey: "l",
    seq: 9,
    turn: 5,
    tokenRate: 1.5,
    headerNames: ["auth.ts"],
    levels: [],
    held: [],
    facts: { ...shownFacts, expiring: [], changes: [], ...facts },
    ...over,
  };
}

const { tree, root } = addRoot(emptyTree, "");
// The head of these requests was reported, and has no units.
const head = { isReported: true, units: [] } as unknown as RequestHead;

/** A unit that shows a block. */
function unit(shown: SizedBlock): PlannedUnit {
  const bytes = Buffer.from("{}");
  const hash = hashContent(bytes);
  const facts = { protocol: anthropic.name, key: "k", part: "text", wireType: "text", callId: null } as const;
  const position = { wrapping: anthropic.write.message("user"), opensMessage: false, extra: null } as const;
  const numbered = { message: 1, turn: 1, ttl: null, block: 0, ...shown };
  return {
    ...plannedDefaults,
    ...position,
    facts: { ...facts, kind: shown.kind, hash },
    origin: "client",
    bytes,
    hash,
    alignedIndex: null,
    numbered,
  };
}

const defaults: TailInput = {
  nonce: "k7f3",
  awareness: defaultAwareness,
  window: 200_000,
  readPrice: 0.1,
  latest: wishes(),
  levels: noWishes().levels,
  unlogged: noUnlogged(true),
  isNumbered: true,
  changesSeq: 0,
  state: firstTail,
  turn: 34,
  isEpochStart: false,
  isNext: true,
  freshBlocks: [],
  before: { tree, head, end: root, units: [] },
  reshow: { rewrite: null, losesReasoning: false, withheld: new Map() },
};

/** The tail of one turn. */
function tail(carrier: Carrier, over: Partial<TailInput> = {}): string | null {
  return writeTail({ ...defaults, ...over }, carrier).text;
}

const beforeOf = (path: readonly SizedBlock[]): TailInput["before"] => ({
  ...defaults.before,
  units: path.map(unit),
});

const user = (what: "pinned" | "archived") =>
  ({ actor: "user", what, blocks: [31], tokens: 0, reason: "" }) as const;

describe("the tail of a request on another path", () => {
  const path = [
    { kind: "system", tokens: 100, block: 1 },
    { kind: "user", tokens: 50, block: 2 },
    { kind: "assistant", tokens: 60, block: 3 },
  ] as const;

  test("counts the blocks of this request and not of the last one", () => {
    const text = tail("clearing", { latest: null, before: beforeOf(path), isNext: false }) ?? "";
    expect(text).toContain("| 3 blocks | ~0.2k/200k tokens, 0%]");
    expect(text).toContain("PRIMACY 1 ~0.1k");
  });

  test("tells the log's facts about its blocks, and which blocks it prunes", () => {
    const expiring = [2, 9].map((id) => ({ block: id, at: 36 }));
    const ranges = [{ from: 1, to: 1, reasons: ["setup done"], signatures: 0 }];
    const latest = wishes({}, { expiring, ranges });
    const before = beforeOf(path.map((one) => ({ ...one, message: 3 })));
    const units = [4, 5].map((id) => {
      const pruned = unit({ ...block(id, 1, 2_000), message: 2 });
      const rewriteOf = { facts: pruned.facts, shown: shownWhole } as NonNullable<PlannedUnit["rewriteOf"]>;
      return { ...pruned, rewriteOf, shown: { as: "placeholder", tokens: 40, borrows: [] } as const };
    });
    const rewrite = { cut: root, units, reason: "price", means: "own", bill: null, freedTokens: 0 } as const;
    const reshow = { ...defaults.reshow, rewrite };
    const input = { latest, before, reshow, isNext: false, isEpochStart: true };
    const rows = (tail("clearing", input) ?? "").split("\n");
    expect(rows).toContain("EXPIRING #2 at 36");
    expect(rows).toContain('PRUNED messages 1..2 ("setup done", 0 signatures)');
    expect(rows.find((row) => row.startsWith("COLD"))).toMatch(/^COLD 14 blocks ~65k/);
  });

  test("counts its blocks even if the log has reported nothing", () => {
    const input = { latest: null, unlogged: noUnlogged(false), before: beforeOf(path) };
    expect(tail("clearing", input)).toContain("| 3 blocks |");
  });
});

describe("the tail", () => {
  test("is a summary on a volatile carrier, and detailed at the start of an epoch", () => {
    for (const carrier of ["clearing", "dropped"] as const) {
      expect(tail(carrier)?.split("\n")[1]).toMatch(/^PRIMACY .* \| MIDDLE /);
      expect(tail(carrier, { isEpochStart: true })?.split("\n")[1]).toMatch(/^PRIMACY [^|]*$/);
      // The first turn also begins an epoch, but has little to tell.
      expect(tail(carrier, { isEpochStart: true, turn: 1 })?.split("\n")[1]).toMatch(/ \| MIDDLE /);
    }
  });

  test("on a permanent carrier is told in full once, and then only for changes", () => {
    expect(tail("kept", { isEpochStart: true })).toMatch(/^\[CONTEXT MANIFEST k7f3 turn 34/);
    expect(tail("kept")).toBeNull();
    const latest = wishes({}, { changes: [user("pinned")] });
    expect(tail("kept", { latest })).toBe("[k7f3 turn 34: user pinned #31; 60k free]");
    // The model reads a change once.
    expect(tail("kept", { latest, changesSeq: 9 })).toBeNull();
  });

  test("notes an expiry once, three turns ahead", () => {
    let state: TailState = firstTail;
    const next = (turn: number, blocks: readonly number[]): string | null => {
      const expiring = blocks.map((id) => ({ block: id, at: id - 6 }));
      const written = writeTail(
        { ...defaults, turn, state, latest: wishes({}, { expiring, free: null }) },
        "kept",
      );
      state = written.state;
      return written.text;
    };
    expect(next(33, [43])).toBeNull();
    expect(next(34, [43])).toBe("[k7f3 turn 34: #43 expires at 37]");
    expect(next(35, [43])).toBeNull();
    expect(next(35, [43, 44])).toBe("[k7f3 turn 35: #44 expires at 38]");
  });

  test("is empty if the manifest is off, and hides the fill if told to", () => {
    const set = (over: object) => ({ awareness: { ...defaultAwareness, ...over } });
    expect(tail("clearing", set({ manifest: "off" }))).toBeNull();
    expect(tail("clearing", set({ fill: "hidden" }))).not.toContain("140k");
    expect(tail("clearing", set({ variant: "xml" }))).toMatch(/^<context-manifest mark=k7f3 /);
  });

  test("ends with the offers of cold blocks", () => {
    const offers = [{ block: 12, name: "auth flow", tokens: 1_200, exact: false }];
    const hint = "[k7f3 hint: archived and maybe relevant: #12 auth flow ~1.2k -> expand]";
    expect(
      tail("clearing", { latest: wishes({ offers }) })
        ?.split("\n")
        .at(-1),
    ).toBe(hint);
    expect(tail("kept", { latest: wishes({ offers }) })).toContain(hint);
  });

  test("counts sent blocks before the log has reported anything", () => {
    const unlogged = addUnlogged(noUnlogged(true), [block(1), null, block(2)]);
    const input = { latest: null, unlogged, turn: 2, freshBlocks: [block(3)] };
    expect(tail("clearing", input)).toContain("turn 2 | 3 blocks | ~0.3k/200k");
  });

  test("adds blocks to the log's facts: as recency, or as primacy if it is a system text", () => {
    const freshBlocks = [block(8), { ...block(9), kind: "system" } as const];
    const rows = tail("clearing", { freshBlocks })?.split("\n") ?? [];
    expect(rows[0]).toContain("| 44 blocks | ~140k/200k");
    expect(rows[1]).toMatch(/^PRIMACY 4 ~3\.3k \|.*\| RECENCY 6 ~8\.5k/);
  });

  test("counts the cost of summaries, and not of detailed manifests", () => {
    const { state } = writeTail(defaults, "clearing");
    expect([state.spent.turns, state.spent.tokens > 20]).toEqual([1, true]);
    const detailed = writeTail({ ...defaults, state, isEpochStart: true }, "clearing");
    expect(detailed.state).toEqual(state);
  });
});

describe("a block that was sent since the last wishes", () => {
  const ids = ({ blocks }: ReturnType<typeof noUnlogged>) => blocks.map(({ block: id }) => id);

  test("is noted once, until the log reports its turn", () => {
    const first = addUnlogged(noUnlogged(true), [block(1, 5), block(2, 6)]);
    const second = addUnlogged(first, [block(2, 6), block(3, 6)]);
    const logged = dropLogged(second, 5);
    expect([ids(first), ids(second), ids(logged)]).toEqual([
      [1, 2],
      [1, 2, 3],
      [2, 3],
    ]);
    // The client repeats an answer after the log has reported it.
    expect(ids(addUnlogged(logged, [block(7, 5), block(8, 6)]))).toEqual([2, 3, 8]);
  });

  test("is dropped after many others if the log stays silent", () => {
    const many = Array.from({ length: 2_500 }, (_, at) => block(at));
    const { blocks } = addUnlogged(noUnlogged(true), many);
    expect([blocks.length, blocks[0]?.block]).toEqual([2_000, 500]);
  });

  test("counts as used, if everything before it was counted", () => {
    const sent = [block(1), block(2)];
    expect(usedTokens(addUnlogged(noUnlogged(true), sent), null)).toBe(200);
    expect(usedTokens(addUnlogged(noUnlogged(false), sent), null)).toBe(null);
    expect(usedTokens(addUnlogged(noUnlogged(false), sent), wishes())).toBe(140_200);
  });
});
