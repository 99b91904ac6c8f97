import { expect, test } from "vitest";
import type { BlockRow, StateRow } from "../../queries/answers/index.ts";
import { contextLines } from "./context-picture.ts";
import { plain } from "./paint.ts";

const block: BlockRow = {
  n: 1,
  zone: "middle",
  kind: "user",
  form: "anthropic",
  topic: null,
  tokens: 100,
  exact: false,
  level: "original",
  shown: "original",
  wanted: "original",
  pending: false,
  sizes: { original: 10 },
  counted: true,
  pinned: false,
  focused: false,
  selected: false,
  withheld: false,
  ttl: null,
  lastUsedTurn: 1,
  state: "active",
  origin: "user",
  speaker: "user",
  message: 1,
  turn: 1,
  stream: 1,
  addedSeq: 2,
  firstRequest: 1,
};

const state: StateRow = {
  session: "s",
  seq: 1_287,
  head: 1_287,
  stream: 1,
  turn: 41,
  model: "claude-sonnet",
  window: { used: 142_300, free: 57_700, size: 200_000, exact: true },
  strip: [
    { zone: "primacy", tokens: 3_200, blocks: 1, from: 1, to: 1 },
    { zone: "middle", tokens: 128_000, blocks: 2, from: 2, to: 3 },
    { zone: "recency", tokens: 8_900, blocks: 1, from: 4, to: 4 },
  ],
  zones: [
    { zone: "primacy", tokens: 3_200, blocks: 1 },
    { zone: "middle", tokens: 128_000, blocks: 2 },
    { zone: "recency", tokens: 8_900, blocks: 1 },
  ],
  cold: { tokens: 61_000, blocks: 1 },
  lowered: { tokens: 0, blocks: 0 },
  pending: { tokens: 0, blocks: 0 },
  otherTokens: 2_200,
  marks: { cached: null, changedFrom: null, reserved: null, compactsAt: null, forecast: null },
  blocks: [
    { ...block, n: 1, zone: "primacy", exact: true, pinned: true },
    { ...block, n: 2, shown: "trimmed" },
    { ...block, n: 3, shown: "summarized" },
    { ...block, n: 4, zone: "recency", exact: true, focused: true },
    { ...block, n: 5, zone: "cold", counted: false },
  ],
  total: 5,
  streams: [],
};

test("marks below the strip show the cached prefix, the first change and the client's compaction", () => {
  const marks = {
    cached: { tokens: 131_000, share: 0.94 },
    changedFrom: { block: 3, exchange: 12 },
    reserved: null,
    compactsAt: 167_000,
    forecast: null,
  };
  const lines = contextLines({ name: "n", state: { ...state, marks }, paint: plain, cacheLeftMs: 192_400 });
  const [, strip = "", signs = ""] = lines;
  expect(signs.trim().replace(/ +/g, " ")).toBe("^ | /");
  // Each mark stands under its position in the window: 60 cells are 200k.
  expect([signs.indexOf("|"), signs.indexOf("/")]).toEqual([
    1 + Math.floor(131 * 0.3),
    1 + Math.floor(167 * 0.3),
  ]);
  expect(signs.length).toBeLessThan(strip.length);
  const rows = lines.slice(3).join("\n");
  expect(rows).toMatch(/ \| {2}cached +131\.0k {2}94 % hit, 3:12 left/);
  expect(rows).toMatch(/ \^ {2}changed +~\S+ {2}from #3 on, by request 12/);
  expect(rows).toMatch(/ \/ {2}compacts +~167\.0k {2}the client compacts about here/);
  const late = contextLines({ name: "n", state: { ...state, marks }, paint: plain, cacheLeftMs: -1 });
  expect(late.join("\n")).toContain("94 % hit, expired");
});

test("a context is a line, a strip and a row per zone", () => {
  expect(contextLines({ name: "fix-auth", state, paint: plain })).toEqual([
    "fix-auth  claude-sonnet  142.3k / 200k (71 % used)  free 57.7k  seq 1287",
    "[PMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMRRRo.................]",
    " P  primacy   1 block     3.2k  1 pinned",
    " M  middle   2 blocks  ~128.0k  1 trimmed, 1 summarized",
    " R  recency   1 block     8.9k  focused #4",
    " o  other                ~2.2k  tools, framing",
    " C  cold      1 block   ~61.0k  not sent",
  ]);
});

test("estimates are marked, an earlier seq is named, control characters are removed", () => {
  const earlier = { ...state, seq: 7, window: { ...state.window, exact: false }, model: null };
  const name = `a${String.fromCharCode(27)}]0;title${String.fromCharCode(7)}b`;
  expect(contextLines({ name, state: earlier, paint: plain })[0]).toBe(
    "a]0;titleb  no model yet  ~142.3k / 200k (71 % used)  free ~57.7k  seq 7 of 1287",
  );
});

test("an empty session has an empty strip and no rows", () => {
  const window = { used: 0, free: 200_000, size: 200_000, exact: false };
  const empty = { ...state, window, strip: [], zones: [], otherTokens: 0, blocks: [] };
  const lines = contextLines({
    name: "new",
    state: { ...empty, cold: { tokens: 0, blocks: 0 } },
    paint: plain,
  });
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^\[\.{60}\]$/);
});

test("shortened and pending blocks have their own rows", () => {
  const blocks = [
    { ...block, n: 2, shown: "trimmed", wanted: "minimal", pending: true },
    { ...block, n: 3, shown: "placeholder", counted: false },
    { ...block, n: 7, wanted: "trimmed", pending: true },
  ] as const;
  const lowered = { blocks: 2, tokens: 41_200 };
  const pending = { blocks: 2, tokens: -900 };
  const lines = contextLines({
    name: "fix-auth",
    state: { ...state, blocks, lowered, pending },
    paint: plain,
  });
  expect(lines.slice(-2).map((line) => line.replace(/ +/g, " "))).toEqual([
    " shortened 2 blocks ~-41.2k left out: trimmed #2, pruned #3",
    " pending 2 blocks ~+900 at the next rewrite: minimal #2, trimmed #7",
  ]);
});
