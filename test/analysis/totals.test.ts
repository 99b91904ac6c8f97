// `aperture analyze` reports the same costs for transcripts as the cost benchmark for the same sessions.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readAssumptions } from "../../bench/cost/assumptions.ts";
import { columns } from "../../bench/cost/play-columns.ts";
import { costsOf, type SessionCost } from "../../src/analysis/play/cost-sums.ts";
import { playableSession, playSession } from "../../src/analysis/play/session-play.ts";
import { pricesOf, windowOf } from "../../src/config/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { transcriptClients } from "../../src/transcripts/client-transcript.ts";
import { type Recording, recordedClient } from "../../src/transcripts/index.ts";
import { hasLargeSet, readRecording, recordingNames } from "../support/recordings.ts";
import { isLong } from "../support/runs.ts";
import { transcriptFiles, writeTranscripts } from "../support/transcript-files.ts";

const program = join(process.cwd(), "dist", "cli", "main.cjs");

/** One session of each client, with agents, short enough for every run. */
const quick = ["cc-entire-cli-05", "cc-entire-cli-08", "codex-entire-skills-01", "gemini-entire-cli-01"];

let home = "";
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "aperture-analysis-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function chosenRecordings(): readonly Recording[] {
  const names = recordingNames();
  const few = names.filter((name) => quick.includes(name));
  const all = (isLong || few.length === 0 ? names : few).map((name) => readRecording(name));
  return all.filter((recording) => clientOf(recording) !== undefined);
}

function clientOf(recording: Recording) {
  return transcriptClients.find((client) => client === recordedClient(recording));
}

type AnalyzeOutput = {
  readonly totals: {
    readonly requests: number;
    readonly simulated: Readonly<Record<"asSent" | "managed" | "charged" | "misses", number>>;
  };
  readonly sessions: readonly {
    readonly id: string;
    readonly simulated: Readonly<Record<"asSent" | "managed" | "charged", number>>;
  }[];
};

function analyze(): AnalyzeOutput {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "analyze", "--json"], {
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as AnalyzeOutput;
}

/** The costs by the column of the benchmark that `analyze` uses. */
async function benchmarkCosts(recordings: readonly Recording[]): Promise<readonly SessionCost[]> {
  const column = columns.find(({ name }) => name === "recorded with policy");
  if (column === undefined) throw new Error("the benchmark has that column");
  const deps = { assumptions: readAssumptions(), count: await loadO200k(), pricesOf, windowOf };
  const costs: SessionCost[] = [];
  for (const recording of recordings)
    costs.push((await playSession(playableSession(recording), column, deps)).cost);
  return costs;
}

test("totals and sessions equal those of the benchmark", { timeout: 900_000 }, async (context) => {
  const recordings = chosenRecordings();
  if (!hasLargeSet) context.skip("needs the large set of recordings; see docs/reference/recordings.md");
  expect(recordings.length).toBeGreaterThan(0);
  for (const recording of recordings) {
    const client = clientOf(recording);
    if (client !== undefined) writeTranscripts(home, transcriptFiles(recording, client));
  }
  const output = analyze();
  const costs = await benchmarkCosts(recordings);
  const { asSent, managed, charged } = costsOf(costs);
  const requests = costs.flatMap(({ streams }) => streams.flat());
  expect(output.totals.requests).toBe(requests.length);
  expect(output.totals.simulated.misses).toBe(requests.filter(({ isMiss }) => isMiss).length);
  for (const [name, figure] of Object.entries({ asSent, managed, charged }))
    expect(output.totals.simulated[name as "asSent"], name).toBeCloseTo(figure, 3);
  for (const cost of costs) {
    const { asSent: sent, managed: kept, charged: paid } = costsOf([cost]);
    const session = output.sessions.find(({ id }) => id === cost.name);
    expect(session?.simulated, cost.name).toMatchObject({ asSent: sent, managed: kept, charged: paid });
  }
});
