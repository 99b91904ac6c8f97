import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../test/support/delta-examples.ts";
import { dump, TestSession } from "../../test/support/engine.ts";
import { intents, live } from "../../test/support/random-session.ts";
import { stateToPages } from "../../test/support/state-pages.ts";
import { frameHash, must, type Result, seqOf, sessionId, sha256Hex, unwrap } from "../base/index.ts";
import { replayFrames } from "./reduce.ts";
import { type StatePages, snapshotFormat, stateFromPages, stateToPagesInSlices } from "./snapshot.ts";
import type { State } from "./state.ts";

/** Pages as they come back from a disk: they share nothing with the state that wrote them. */
const reread = (taken: StatePages): StatePages => ({
  ...taken,
  pages: new Map([...taken.pages].map(([name, bytes]) => [name, Uint8Array.from(bytes)])),
});

const codeOf = (result: Result<State>) => (result.ok ? null : result.error.code);

/** Blocks over several pages, facts, forks, turns, steps: something in every table. */
function example(): TestSession {
  const session = new TestSession();
  const [block] = session.addPair({ kind: "tool-call", span: 2 }, { kind: "tool-result" });
  for (let count = 0; count < 70; count += 1) session.add({ span: 5 });
  session.turns(2);
  session.run();
  session.set(must(block, "block"), { pin: "top", ttl: null });
  session.take({
    deltas: [
      { type: "epoch-started", view: session.view().id, epoch: 1, cut: null, reason: "user", means: "own" },
    ],
  });
  session.append([
    deltaExamples["approval-asked"],
    deltaExamples["permission-set"],
    deltaExamples["mode-set"],
  ]);
  session.append([deltaExamples["approval-decided"]]);
  const child = session.fork();
  session.add({ view: child });
  session.turns(1, child);
  return session;
}

describe("a snapshot", () => {
  it("restores every table of the state, not only what readers see", () => {
    const { state } = example();
    expect(dump(unwrap(stateFromPages(reread(stateToPages(state, new Set())))))).toEqual(dump(state));
  });

  it("restores every table of any state", () => {
    fc.assert(
      fc.property(intents(60), (list) => {
        const state = live(list).states.at(-1) as State;
        expect(dump(unwrap(stateFromPages(reread(stateToPages(state, new Set())))))).toEqual(dump(state));
      }),
      { numRuns: 40 },
    );
  });

  it("from before there were approvals restores none", () => {
    const { state } = new TestSession();
    const taken = stateToPages(state, new Set());
    const { approvals, mode, views, ...older } = JSON.parse(taken.root);
    expect([approvals, mode]).toEqual([{ size: 0, pages: [] }, []]);
    const olderViews = views.map(({ permissions: _, ...view }: { permissions: unknown }) => view);
    const root = JSON.stringify({ ...older, views: olderViews });
    expect(dump(unwrap(stateFromPages(reread({ ...taken, root }))))).toEqual(dump(state));
  });

  it("plus the later frames gives the whole state, in every table", () => {
    fc.assert(
      fc.property(intents(60), fc.nat(), (list, cut) => {
        const { frames, states } = live(list);
        const seq = cut % states.length;
        const base = unwrap(stateFromPages(reread(stateToPages(states[seq] as State, new Set()))));
        const whole = unwrap(replayFrames(base, frames.slice(seq)));
        expect(dump(whole)).toEqual(dump(states.at(-1) as State));
      }),
      { numRuns: 40 },
    );
  });

  it("has its session, seq and hash, and names its pages by their own hash", () => {
    const { state } = example();
    const taken = stateToPages(state, new Set());
    expect([taken.session, taken.seq, taken.hash]).toEqual([state.session, state.seq, state.hash]);
    expect(JSON.parse(taken.root)).toMatchObject({
      format: snapshotFormat,
      session: state.session,
      seq: state.seq,
    });
    expect(new Set(taken.pageHashes)).toEqual(new Set(taken.pages.keys()));
    for (const [name, bytes] of taken.pages) expect(sha256Hex(bytes).startsWith(name)).toBe(true);
  });

  it("of an empty session has a root and no pages", () => {
    const { state } = example();
    const empty = { ...state, ...tablesOf(live([]).states[0] as State) };
    const taken = stateToPages(empty, new Set());
    expect([taken.pageHashes, taken.pages.size]).toEqual([[], 0]);
    expect(dump(unwrap(stateFromPages(taken)))).toEqual(dump(empty));
  });
});

describe("a later snapshot", () => {
  it("does not include, encode or read pages that did not change", () => {
    const session = example();
    const first = stateToPages(session.state, new Set());
    const reopened = unwrap(stateFromPages(reread(first)));
    const before = decodedPages(reopened);
    const again = stateToPages(reopened, new Set(first.pageHashes));
    expect(again.pages.size).toBe(0);
    expect(again.root).toBe(first.root);
    expect(before()).toBe(0);
  });

  it("of an open session does not encode again what the last one encoded", () => {
    const { state } = example();
    const first = stateToPages(state, new Set());
    const looks = decodedPages(state);
    expect(stateToPages(state, new Set(first.pageHashes)).root).toBe(first.root);
    expect(looks()).toBe(0);
  });

  it("includes the one changed page of blocks, and names all of them", () => {
    const session = example();
    const first = stateToPages(session.state, new Set());
    session.append([{ type: "tokens-counted", block: session.add(), tokens: { count: 1, exact: true } }]);
    const second = stateToPages(session.state, new Set(first.pageHashes));
    expect(second.pages.size).toBeGreaterThan(0);
    expect(second.pages.size).toBeLessThan(8);
    const kept = [...first.pages].filter(([name]) => second.pageHashes.includes(name));
    const whole = { ...second, pages: new Map([...kept, ...second.pages]) };
    expect(dump(unwrap(stateFromPages(whole)))).toEqual(dump(session.state));
  });

  it("includes a page again if the last snapshot with it was never written", () => {
    const { state } = example();
    const lost = stateToPages(state, new Set());
    const second = stateToPages(state, new Set());
    expect([...second.pages.keys()].sort()).toEqual([...lost.pages.keys()].sort());
  });
});

describe("a snapshot taken in slices", () => {
  /** The snapshot, and the pages that were encoded before each pause. */
  function sliced(state: State): { readonly taken: StatePages; readonly pauses: number } {
    const slices = stateToPagesInSlices(state, new Set());
    for (let pauses = 0; ; pauses += 1) {
      const slice = slices.next();
      if (slice.done) return { taken: slice.value, pauses };
    }
  }

  it("is the same snapshot, whatever frames come between the slices", () => {
    const session = example();
    for (let count = 0; count < 300; count += 1) session.send({ shows: [] });
    const { state } = session;
    const before = dump(state);
    const slices = stateToPagesInSlices(state, new Set());
    slices.next();
    session.add();
    session.turns(3);
    let slice = slices.next();
    while (!slice.done) slice = slices.next();
    expect(slice.value.root).toBe(stateToPages(state, new Set()).root);
    expect(dump(unwrap(stateFromPages(reread(slice.value))))).toEqual(before);
  });

  it("pauses more often the more there is to encode, and never if there is nothing", () => {
    const session = example();
    const few = sliced(session.state).pauses;
    for (let count = 0; count < 600; count += 1) session.send({ shows: [] });
    const { pauses, taken } = sliced(session.state);
    expect(pauses).toBeGreaterThan(few);
    expect(pauses).toBeLessThanOrEqual(taken.pages.size / 8);
    const { pageHashes } = taken;
    expect(stateToPagesInSlices(session.state, new Set(pageHashes)).next().done).toBe(true);
  });
});

describe("a damaged snapshot is refused with AP_SNAPSHOT_DAMAGED", () => {
  const taken = stateToPages(example().state, new Set());
  const root = JSON.parse(taken.root) as Record<string, unknown>;
  const rooted = (change: object): StatePages => ({ ...taken, root: JSON.stringify({ ...root, ...change }) });

  it.each<[string, StatePages]>([
    ["a root that is cut off", { ...taken, root: taken.root.slice(0, -5) }],
    ["an empty root", { ...taken, root: "" }],
    ["a root that is null", { ...taken, root: "null" }],
    ["a root that is a list", { ...taken, root: "[]" }],
    ["a root of a later format", rooted({ format: snapshotFormat + 1 })],
    ["a root without a format", rooted({ format: undefined })],
    ["a root of another seq", rooted({ seq: taken.seq - 1 })],
    ["a root of another session", rooted({ session: sessionId("other") })],
    ["a root that ends in another frame", rooted({ hash: frameHash("ab".repeat(32)) })],
    ["a root without streams", rooted({ streams: undefined })],
    ["a root without a table", rooted({ blocks: undefined })],
    ["a table without pages", rooted({ units: { size: 3 } })],
    ["a row of another seq", { ...taken, seq: seqOf(taken.seq + 1) }],
    ["no pages at all", { ...taken, pages: new Map() }],
  ])("%s is damage", (_, damaged) => {
    expect(codeOf(stateFromPages(damaged))).toBe("AP_SNAPSHOT_DAMAGED");
  });

  it("a snapshot is damaged if any single page is missing", () => {
    for (const name of taken.pageHashes) {
      const pages = new Map([...taken.pages].filter(([other]) => other !== name));
      expect(codeOf(stateFromPages({ ...taken, pages })), name).toBe("AP_SNAPSHOT_DAMAGED");
    }
  });

  it("the error names the seq of the snapshot", () => {
    const result = stateFromPages({ ...taken, root: "" });
    expect(result.ok ? null : result.error.details).toEqual({ seq: taken.seq });
  });
});

/** The tables of a state, to be put over those of another. */
function tablesOf({ streams, views, blocks, messages, pairs, units, steps, approvals }: State) {
  return { streams, views, blocks, messages, pairs, units, steps, approvals };
}

/** Returns a counter of the pages of the big tables decoded since. */
function decodedPages(state: State): () => number {
  let decoded = 0;
  const tables = [
    state.blocks,
    state.messages,
    state.units,
    ...[...state.views.entries()].map(([, view]) => view.facts),
  ];
  for (const table of tables) {
    for (const [, page] of (table as State["blocks"]).pages()) {
      Object.defineProperty(page, "items", {
        get() {
          decoded += 1;
          return [];
        },
      });
    }
  }
  return () => decoded;
}
