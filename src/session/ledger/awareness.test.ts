import { describe, expect, test } from "vitest";
import { shownFacts } from "../../../test/support/render-facts.ts";
import type { ManifestFacts } from "../../render/index.ts";
import type { Briefing, Numbered } from "../desk-port.ts";
import {
  type Awareness,
  noteRecent,
  sayingFor,
  takeBriefing,
  usualAwareness,
  withBlocks,
} from "./awareness.ts";
import type { Carrier } from "./carrier.ts";
import { type Line, openLine } from "./line.ts";
import { SessionNumbers } from "./numbers.ts";
import type { Reshown, SizedBlock } from "./saying.ts";

const block = (id: number, turn = 1, tokens = 100): Numbered => ({
  ...{ block: id, message: 1, turn, kind: "user", tokens, ttl: null },
});

function aLine(): Line {
  const named = { key: "l", session: "s", talkName: null, nonce: "k7f3", record: 0 };
  return openLine({ ...named, wasManaged: false, isAsked: true, numbersOf: new SessionNumbers() });
}

function briefing(over: Partial<Briefing> = {}, facts: Partial<ManifestFacts> = {}): Briefing {
  const told = { line: "l", seq: 9, turn: 5, rate: 1.5, names: ["auth.ts"], wanted: [], held: [] };
  return { ...told, facts: { ...shownFacts, expiring: [], changes: [], ...facts }, ...over };
}

type Asked = Partial<Awareness> & {
  readonly turn?: number;
  readonly isEpochStart?: boolean;
  readonly fresh?: readonly Numbered[];
  readonly path?: readonly SizedBlock[];
  readonly isNext?: boolean;
  readonly reshown?: readonly Reshown[];
};

/** What a turn says of its context, for the way it goes. */
function tail(line: Line, carrier: Carrier, asked: Asked = {}): string | null {
  const { turn = 34, isEpochStart = false, fresh = [], ...over } = asked;
  const awareness = { ...usualAwareness, ...over };
  const saying = sayingFor(line, { timeMs: 0, awareness, window: 200_000, read: 0.1 });
  const { path = [], isNext = true, reshown = [] } = over;
  const sent = { path: () => path, isNext, reshown: () => reshown };
  return saying.tail({ carrier, turn, isEpochStart, fresh, ...sent });
}

const user = (what: "pinned" | "archived") =>
  ({ actor: "user", what, blocks: [31], tokens: 0, reason: "" }) as const;

describe("the tail of a request that takes another path", () => {
  const path = [
    { kind: "system", tokens: 100, block: 1 },
    { kind: "user", tokens: 50, block: 2 },
    { kind: "assistant", tokens: 60, block: 3 },
  ] as const;

  test("counts what will be sent, and not what was sent before", () => {
    const text = tail(aLine(), "clearing", { path, isNext: false }) ?? "";
    expect(text).toContain("| 3 blocks | ~0.2k/200k tokens, 0%]");
    expect(text).toContain("PRIMACY 1 ~0.1k");
  });

  test("tells what the log knows of it, and what goes out of sight with it", () => {
    const line = aLine();
    const expiring = [2, 9].map((id) => ({ block: id, at: 36 }));
    const ranges = [{ from: 1, to: 1, reasons: ["setup done"], signatures: 0 }];
    takeBriefing(line, briefing({}, { expiring, ranges }));
    const sent = path.map((one) => ({ ...one, message: 3 }));
    const reshown = [4, 5].map((id) => ({
      ...block(id, 1, 2_000),
      message: 2,
      as: "placeholder" as const,
      was: "original" as const,
    }));
    const asked = { path: sent, reshown, isNext: false, isEpochStart: true };
    const rows = (tail(line, "clearing", asked) ?? "").split("\n");
    expect(rows).toContain("EXPIRING #2 at 36");
    expect(rows).toContain('PRUNED messages 1..2 ("setup done", 0 signatures)');
    expect(rows.find((row) => row.startsWith("COLD"))).toMatch(/^COLD 14 blocks ~65k/);
  });

  test("of a line that nobody was briefed about does the same", () => {
    const text = tail({ ...aLine(), briefing: null, recent: [] }, "clearing", { path }) ?? "";
    expect(text).toContain("| 3 blocks |");
  });
});

describe("the tail", () => {
  test("is a summary where it goes away again, and detailed where an epoch begins", () => {
    const line = aLine();
    takeBriefing(line, briefing());
    for (const carrier of ["clearing", "dropped"] as const) {
      expect(tail(line, carrier)?.split("\n")[1]).toMatch(/^PRIMACY .* \| MIDDLE /);
      expect(tail(line, carrier, { isEpochStart: true })?.split("\n")[1]).toMatch(/^PRIMACY [^|]*$/);
      // The first turn begins an epoch, and there is little to tell yet.
      expect(tail(line, carrier, { isEpochStart: true, turn: 1 })?.split("\n")[1]).toMatch(/ \| MIDDLE /);
    }
  });

  test("that stays is said in full once, then only where something is new", () => {
    const line = aLine();
    takeBriefing(line, briefing());
    expect(tail(line, "kept", { isEpochStart: true })).toMatch(/^\[CONTEXT MANIFEST k7f3 turn 34/);
    expect(tail(line, "kept")).toBeNull();
    takeBriefing(line, briefing({}, { changes: [user("pinned")] }));
    expect(tail(line, "kept")).toBe("[k7f3 turn 34: user pinned #31; 60k free]");
  });

  test("notes an expiry once, three turns ahead", () => {
    const line = aLine();
    takeBriefing(line, briefing({}, { expiring: [{ block: 43, at: 37 }], free: null }));
    expect(tail(line, "kept", { turn: 33 })).toBeNull();
    expect(tail(line, "kept", { turn: 34 })).toBe("[k7f3 turn 34: #43 expires at 37]");
    expect(tail(line, "kept", { turn: 35 })).toBeNull();
    takeBriefing(
      line,
      briefing({}, { expiring: [43, 44].map((id) => ({ block: id, at: id - 6 })), free: null }),
    );
    expect(tail(line, "kept", { turn: 35 })).toBe("[k7f3 turn 35: #44 expires at 38]");
  });

  test("says nothing where the manifest is off, and hides the fill where it is to be hidden", () => {
    const line = aLine();
    takeBriefing(line, briefing());
    expect(tail(line, "clearing", { manifest: "off" })).toBeNull();
    expect(tail(line, "clearing", { fill: "hidden" })).not.toContain("140k");
    const xml = tail(line, "clearing", { variant: "xml" });
    expect(xml).toMatch(/^<context-manifest mark=k7f3 /);
  });

  test("does not count an answer twice that the client repeats after the log has told of it", () => {
    const line = aLine();
    takeBriefing(line, { ...briefing(), turn: 5 });
    noteRecent(line, [
      { ...block(7), turn: 5 },
      { ...block(8), turn: 6 },
    ]);
    expect(line.recent.map(({ block: id }) => id)).toEqual([8]);
  });

  test("offers what was found in the cold, behind everything else", () => {
    const line = aLine();
    const offers = [{ block: 12, name: "auth flow", tokens: 1_200, exact: false }];
    takeBriefing(line, { ...briefing(), offers });
    const hint = "[k7f3 hint: archived and maybe relevant: #12 auth flow ~1.2k -> expand]";
    expect(tail(line, "clearing")?.split("\n").at(-1)).toBe(hint);
    expect(tail(line, "kept")).toContain(hint);
  });

  test("knows what was sent before the log has said anything", () => {
    const line = aLine();
    noteRecent(line, [block(1), null, block(2)]);
    const path = [block(1), block(2)];
    expect(tail(line, "clearing", { turn: 2, path, fresh: [block(3)] })).toContain(
      "turn 2 | 3 blocks | ~0.3k/200k",
    );
  });

  test("counts what its summaries cost, and not what is written in detail", () => {
    const line = aLine();
    takeBriefing(line, briefing());
    tail(line, "clearing");
    const { turns, tokens } = line.spent;
    tail(line, "clearing", { isEpochStart: true });
    expect([turns, tokens > 20, line.spent]).toEqual([1, true, { turns, tokens }]);
  });
});

describe("what was sent since the log last spoke", () => {
  test("is kept once, until the log covers its turn", () => {
    const line = aLine();
    noteRecent(line, [block(1, 5), block(2, 6)]);
    noteRecent(line, [block(2, 6), block(3, 6)]);
    expect(line.recent.map(({ block: id }) => id)).toEqual([1, 2, 3]);
    takeBriefing(line, briefing({ turn: 5 }));
    expect(line.recent.map(({ block: id }) => id)).toEqual([2, 3]);
  });

  test("has an end where the log stays silent", () => {
    const line = aLine();
    noteRecent(
      line,
      Array.from({ length: 2_500 }, (_, at) => block(at)),
    );
    expect([line.recent.length, line.recent[0]?.block]).toEqual([2_000, 500]);
  });

  test("is in the run that goes on, a system text in front; what is free gets less, and nothing is exact", () => {
    const system: Numbered = { ...block(9), kind: "system" };
    const facts = withBlocks(shownFacts, [block(8), system]);
    expect(facts).toMatchObject({ blocks: 44, used: 140_200, exact: false, free: 59_800 });
    expect(facts.primacy).toMatchObject({ blocks: 4, tokens: 3_300, exact: false });
    expect(facts.recency).toMatchObject({ blocks: 6, tokens: 8_500, exact: false });
    expect(withBlocks(shownFacts, [])).toEqual(shownFacts);
    expect(withBlocks({ ...shownFacts, free: 10 }, [block(8)]).free).toBe(0);
  });
});

test("names are for the next header, and not for a second one of the same briefing", () => {
  const line = aLine();
  const saying = () =>
    sayingFor(line, {
      timeMs: 7,
      awareness: { ...usualAwareness, zoneMinutes: 60 },
      window: null,
      read: 0.1,
    });
  expect(saying()).toMatchObject({ names: [], rate: 1, timeMs: 7, zoneMinutes: 60, headers: "compact" });
  takeBriefing(line, briefing());
  expect(saying()).toMatchObject({ names: ["auth.ts"], rate: 1.5 });
  line.namedSeq = 9;
  expect(saying().names).toEqual([]);
});
