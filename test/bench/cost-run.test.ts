import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { costCells } from "../../bench/cost/index.ts";
import { parseRecording } from "../../bench/cost/parse-recording.ts";
import { type Cell, isWithin } from "../../bench/report.ts";
import { recordingNames } from "../support/recordings.ts";
import { isLong } from "../support/runs.ts";
import { runBenchmark } from "./run-benchmark.ts";

type Ran = { readonly status: number | null; readonly cells: readonly Cell[]; readonly stderr: string };

function bench(args: readonly string[]): Ran {
  const { status, summary, stderr } = runBenchmark("cost", args);
  expect(summary?.ok).toBe(summary?.cells.every(isWithin));
  return { status, cells: summary?.cells ?? [], stderr };
}

/** The cells with a bound in a set that is large enough. */
const judged: readonly (readonly [name: string, boundMax: number])[] = [
  ...["recorded", "volatile", "permanent"].flatMap((way): [string, number][] => [
    [`${way}, all: extra cost`, 4],
    [`${way}, worst session: extra cost`, 10],
    [`${way}, read at 0.1: extra cost`, 4],
    [`${way}, read at 0.05: extra cost`, 4],
    [`${way}: breaks that no rewrite explains`, 0],
    [`${way}: requests with too many marks`, 0],
    [`${way}: answers that miss a name`, 0],
    [`${way}: large sessions that are never managed`, 0],
  ]),
  ["permanent, read at 0.025: extra cost", 4],
  ["recorded with policy, all: cost", 0.85],
  ["recorded with policy, all of claude-code: cost", 1],
  ["recorded with policy: answers that miss a name", 5],
  ["recorded with policy: breaks that no rewrite explains", 0],
  ["recorded with policy: predicted bill of all rewrites, off by", 10],
];
const judgedLong: typeof judged = [
  ["volatile, read at 0.025: extra cost", 4],
  ["volatile, read at 0.025, worst session: extra cost", 10],
  ["recorded, read at 0.025: extra cost", 4],
  ["volatile with policy, all: cost", 0.85],
  ["permanent with policy, all: cost", 0.85],
  ["recorded with commands, all: cost", 1.08],
];

const isSet = recordingNames().length >= 10;

test("npm run bench -- cost keeps every bound on recorded sessions, and its exit code says so", () => {
  const { status, cells, stderr } = bench(isLong ? [] : ["--quick"]);
  expect(cells.length, stderr).toBeGreaterThan(0);
  expect(cells.filter((cell) => !isWithin(cell))).toEqual([]);
  expect(status).toBe(0);
  const bounds = new Map(cells.map(({ name, boundMax }) => [name, boundMax]));
  // A few sessions have only the bounds that hold for every request.
  const expected = [...judged, ...(isLong ? judgedLong : [])].filter(([, max]) => isSet || max === 0);
  expect(expected.map(([name]) => [name, bounds.get(name)])).toEqual(expected);
});

const folder = mkdtempSync(join(tmpdir(), "aperture-cost-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fixtures = resolve("test/fixtures/recordings/agent-sessions");
type Json = Readonly<Record<string, unknown>>;
const whole = JSON.parse(
  gunzipSync(readFileSync(join(fixtures, "pi-prsui-01.json.gz"))).toString("utf8"),
) as Json & { readonly turns: readonly Json[] };
const packed = (value: unknown): Buffer => gzipSync(Buffer.from(JSON.stringify(value)));
const [firstTurn = {}] = whole.turns;

/** Files from a broken disk, a broken tool, or another version of a tool. */
const damaged: Readonly<Record<string, Buffer>> = {
  empty: Buffer.alloc(0),
  "cut-off": packed(whole).subarray(0, 400),
  "not-packed": Buffer.from(JSON.stringify(whole)),
  "not-json": gzipSync(Buffer.from(JSON.stringify(whole).slice(0, -20))),
  "a-list": packed([]),
  "another-form": packed({ ...whole, format: "replay/2" }),
  "no-requests": packed({ ...whole, turns: [] }),
  "no-answer": packed({ ...whole, turns: [{ ...firstTurn, a: null }] }),
  "no-numbers": packed({ ...whole, turns: [{ ...firstTurn, m: { usage: { in: "many", out: {} } } }] }),
};

/** Unknown or missing fields are no damage: the assumptions apply. */
const odd: Readonly<Record<string, Buffer>> = {
  "unknown-agent": packed({ ...whole, agent: { name: "nobody" } }),
  "no-agent": packed({ ...whole, agent: undefined }),
  "unknown-model": packed({
    ...whole,
    models: [],
    turns: whole.turns.map((turn) => ({ ...turn, m: { model: "x-1" } })),
  }),
  "no-usage": packed({ ...whole, turns: whole.turns.map(({ m, ...turn }) => turn) }),
  "the-same-id": packed(whole),
};

describe("a recording", () => {
  for (const [name, bytes] of Object.entries(damaged))
    test(`is refused with a reason: ${name}`, () => {
      expect(parseRecording(bytes)).toMatch(/^(it|its|the|request) .{8,}/);
    });
  for (const [name, bytes] of Object.entries(odd))
    test(`is taken: ${name}`, () => {
      expect(parseRecording(bytes)).toMatchObject({ turns: expect.any(Array) });
    });
});

test("sessions that cannot be played are reported with the reason, and the others are played", () => {
  const files = join(folder, "agent-sessions");
  mkdirSync(files);
  for (const [name, bytes] of Object.entries({ ...damaged, ...odd }))
    writeFileSync(join(files, `${name}.json.gz`), bytes);
  copyFileSync(join(fixtures, "tau-airline-02.json.gz"), join(files, "tau-airline-02.json.gz"));
  const { status, cells, stderr } = bench(["--quick", "--data", folder]);
  expect(cells.length, stderr).toBeGreaterThan(0);
  expect(status).toBe(1);
  const told = cells.filter(({ name }) => name.endsWith(": not played"));
  const names = told.map(({ name }) => name.replace(": not played", ""));
  expect(new Set(names)).toEqual(new Set(Object.keys(damaged)));
  expect(told.every(({ note }) => note.length > 8)).toBe(true);
  expect(cells.filter((cell) => !isWithin(cell))).toMatchObject([
    { name: "sessions that cannot be played", figure: Object.keys(damaged).length },
  ]);
  for (const name of [...Object.keys(odd), "tau-airline-02"])
    expect(cells.map((cell) => cell.name)).toContain(`recorded, ${name}: extra cost`);
});

test("a folder without sessions is a misuse", async () => {
  const none = join(folder, "none");
  mkdirSync(join(none, "agent-sessions"), { recursive: true });
  const cells = costCells({ data: none, json: false, quick: true });
  await expect(cells.next()).rejects.toThrow("There are no sessions in");
});
