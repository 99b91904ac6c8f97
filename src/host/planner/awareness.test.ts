import { describe, expect, test } from "vitest";
import { shownFacts } from "../../../test/support/render-facts.ts";
import type { ManifestFacts } from "../../awareness/index.ts";
import type { NumberedBlock, Wishes } from "../../exchange/index.ts";
import { type Carrier, type ReshownBlock, SessionNumbers, type SizedBlock } from "../../ledger/index.ts";
import {
  type Awareness,
  addSentBlocks,
  applyWishes,
  defaultAwareness,
  noteContextFor,
  noteNewBlocks,
} from "./awareness.ts";
import { type LiveStream, openLiveStream } from "./live-stream.ts";

const block = (id: number, turn = 1, tokens = 100): NumberedBlock => ({
  ...{ block: id, message: 1, turn, kind: "user", tokens, ttl: null },
});

function newStream(): LiveStream {
  return openLiveStream({
    key: "l",
    session: "s",
    generatedName: null,
    nonce: "k7f3",
    recordVersion: 0,
    wasManaged: false,
    isLookedUp: true,
    sessionNumbers: new SessionNumbers(),
  });
}

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

type TailOptions = Partial<Awareness> & {
  readonly turn?: number;
  readonly isEpochStart?: boolean;
  readonly fresh?: readonly NumberedBlock[];
  readonly path?: readonly SizedBlock[];
  readonly isNext?: boolean;
  readonly reshown?: readonly ReshownBlock[];
};

/** The tail of one turn. */
function tail(stream: LiveStream, carrier: Carrier, input: TailOptions = {}): string | null {
  const { turn = 34, isEpochStart = false, fresh = [], ...over } = input;
  const awareness = { ...defaultAwareness, ...over };
  const context = noteContextFor(stream, { timeMs: 0, awareness, window: 200_000, readPrice: 0.1 });
  const { path = [], isNext = true, reshown = [] } = over;
  return context.writeTail({
    carrier,
    turn,
    isEpochStart,
    freshBlocks: fresh,
    pathBlocks: () => path,
    isNext,
    reshownBlocks: () => reshown,
  });
}

const user = (what: "pinned" | "archived") =>
  ({ actor: "user", what, blocks: [31], tokens: 0, reason: "" }) as const;

describe("the tail of a request on another path", () => {
  const path = [
    { kind: "system", tokens: 100, block: 1 },
    { kind: "user", tokens: 50, block: 2 },
    { kind: "assistant", tokens: 60, block: 3 },
  ] as const;

  test("counts the blocks of this request and not of the last one", () => {
    const text = tail(newStream(), "clearing", { path, isNext: false }) ?? "";
    expect(text).toContain("| 3 blocks | ~0.2k/200k tokens, 0%]");
    expect(text).toContain("PRIMACY 1 ~0.1k");
  });

  test("tells the log's facts about its blocks, and which blocks it prunes", () => {
    const stream = newStream();
    const expiring = [2, 9].map((id) => ({ block: id, at: 36 }));
    const ranges = [{ from: 1, to: 1, reasons: ["setup done"], signatures: 0 }];
    applyWishes(stream, wishes({}, { expiring, ranges }));
    const sent = path.map((one) => ({ ...one, message: 3 }));
    const reshown = [4, 5].map((id) => ({
      ...block(id, 1, 2_000),
      message: 2,
      as: "placeholder" as const,
      was: "original" as const,
    }));
    const input = { path: sent, reshown, isNext: false, isEpochStart: true };
    const rows = (tail(stream, "clearing", input) ?? "").split("\n");
    expect(rows).toContain("EXPIRING #2 at 36");
    expect(rows).toContain('PRUNED messages 1..2 ("setup done", 0 signatures)');
    expect(rows.find((row) => row.startsWith("COLD"))).toMatch(/^COLD 14 blocks ~65k/);
  });

  test("counts its blocks even if the log has reported nothing", () => {
    const text = tail({ ...newStream(), wishes: null, recentBlocks: [] }, "clearing", { path }) ?? "";
    expect(text).toContain("| 3 blocks |");
  });
});

describe("the tail", () => {
  test("is a summary on a volatile carrier, and detailed at the start of an epoch", () => {
    const stream = newStream();
    applyWishes(stream, wishes());
    for (const carrier of ["clearing", "dropped"] as const) {
      expect(tail(stream, carrier)?.split("\n")[1]).toMatch(/^PRIMACY .* \| MIDDLE /);
      expect(tail(stream, carrier, { isEpochStart: true })?.split("\n")[1]).toMatch(/^PRIMACY [^|]*$/);
      // The first turn also begins an epoch, but has little to tell.
      expect(tail(stream, carrier, { isEpochStart: true, turn: 1 })?.split("\n")[1]).toMatch(/ \| MIDDLE /);
    }
  });

  test("on a permanent carrier is told in full once, and then only for changes", () => {
    const stream = newStream();
    applyWishes(stream, wishes());
    expect(tail(stream, "kept", { isEpochStart: true })).toMatch(/^\[CONTEXT MANIFEST k7f3 turn 34/);
    expect(tail(stream, "kept")).toBeNull();
    applyWishes(stream, wishes({}, { changes: [user("pinned")] }));
    expect(tail(stream, "kept")).toBe("[k7f3 turn 34: user pinned #31; 60k free]");
  });

  test("notes an expiry once, three turns ahead", () => {
    const stream = newStream();
    applyWishes(stream, wishes({}, { expiring: [{ block: 43, at: 37 }], free: null }));
    expect(tail(stream, "kept", { turn: 33 })).toBeNull();
    expect(tail(stream, "kept", { turn: 34 })).toBe("[k7f3 turn 34: #43 expires at 37]");
    expect(tail(stream, "kept", { turn: 35 })).toBeNull();
    applyWishes(
      stream,
      wishes({}, { expiring: [43, 44].map((id) => ({ block: id, at: id - 6 })), free: null }),
    );
    expect(tail(stream, "kept", { turn: 35 })).toBe("[k7f3 turn 35: #44 expires at 38]");
  });

  test("is empty if the manifest is off, and hides the fill if told to", () => {
    const stream = newStream();
    applyWishes(stream, wishes());
    expect(tail(stream, "clearing", { manifest: "off" })).toBeNull();
    expect(tail(stream, "clearing", { fill: "hidden" })).not.toContain("140k");
    const xml = tail(stream, "clearing", { variant: "xml" });
    expect(xml).toMatch(/^<context-manifest mark=k7f3 /);
  });

  test("does not count an answer again that the client repeats after the log has reported it", () => {
    const stream = newStream();
    applyWishes(stream, { ...wishes(), turn: 5 });
    noteNewBlocks(stream, [
      { ...block(7), turn: 5 },
      { ...block(8), turn: 6 },
    ]);
    expect(stream.recentBlocks.map(({ block: id }) => id)).toEqual([8]);
  });

  test("ends with the offers of cold blocks", () => {
    const stream = newStream();
    const offers = [{ block: 12, name: "auth flow", tokens: 1_200, exact: false }];
    applyWishes(stream, { ...wishes(), offers });
    const hint = "[k7f3 hint: archived and maybe relevant: #12 auth flow ~1.2k -> expand]";
    expect(tail(stream, "clearing")?.split("\n").at(-1)).toBe(hint);
    expect(tail(stream, "kept")).toContain(hint);
  });

  test("counts sent blocks before the log has reported anything", () => {
    const stream = newStream();
    noteNewBlocks(stream, [block(1), null, block(2)]);
    const path = [block(1), block(2)];
    expect(tail(stream, "clearing", { turn: 2, path, fresh: [block(3)] })).toContain(
      "turn 2 | 3 blocks | ~0.3k/200k",
    );
  });

  test("counts the cost of summaries, and not of detailed manifests", () => {
    const stream = newStream();
    applyWishes(stream, wishes());
    tail(stream, "clearing");
    const { turns, tokens } = stream.manifestSpend;
    tail(stream, "clearing", { isEpochStart: true });
    expect([turns, tokens > 20, stream.manifestSpend]).toEqual([1, true, { turns, tokens }]);
  });
});

describe("a block that was sent since the last wishes", () => {
  test("is noted once, until the log reports its turn", () => {
    const stream = newStream();
    noteNewBlocks(stream, [block(1, 5), block(2, 6)]);
    noteNewBlocks(stream, [block(2, 6), block(3, 6)]);
    expect(stream.recentBlocks.map(({ block: id }) => id)).toEqual([1, 2, 3]);
    applyWishes(stream, wishes({ turn: 5 }));
    expect(stream.recentBlocks.map(({ block: id }) => id)).toEqual([2, 3]);
  });

  test("is dropped after many others if the log stays silent", () => {
    const stream = newStream();
    noteNewBlocks(
      stream,
      Array.from({ length: 2_500 }, (_, at) => block(at)),
    );
    expect([stream.recentBlocks.length, stream.recentBlocks[0]?.block]).toEqual([2_000, 500]);
  });

  test("counts as recency, or as primacy if it is a system text, and makes the totals inexact", () => {
    const system: NumberedBlock = { ...block(9), kind: "system" };
    const facts = addSentBlocks(shownFacts, [block(8), system]);
    expect(facts).toMatchObject({ blocks: 44, used: 140_200, exact: false, free: 59_800 });
    expect(facts.primacy).toMatchObject({ blocks: 4, tokens: 3_300, exact: false });
    expect(facts.recency).toMatchObject({ blocks: 6, tokens: 8_500, exact: false });
    expect(addSentBlocks(shownFacts, [])).toEqual(shownFacts);
    expect(addSentBlocks({ ...shownFacts, free: 10 }, [block(8)]).free).toBe(0);
  });
});

test("the names of the wishes go into one header only", () => {
  const stream = newStream();
  const context = () =>
    noteContextFor(stream, {
      timeMs: 7,
      awareness: { ...defaultAwareness, zoneMinutes: 60 },
      window: null,
      readPrice: 0.1,
    });
  expect(context()).toMatchObject({
    names: [],
    tokenRate: 1,
    timeMs: 7,
    zoneMinutes: 60,
    headers: "compact",
  });
  applyWishes(stream, wishes());
  expect(context()).toMatchObject({ names: ["auth.ts"], tokenRate: 1.5 });
  stream.namesSeq = 9;
  expect(context().names).toEqual([]);
});
