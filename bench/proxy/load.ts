import { quantile } from "../measure.ts";
import type { BenchOptions, Cell } from "../report.ts";
import type { Child } from "./child.ts";
import { Connection } from "./client.ts";
import { Talk } from "./talk.ts";
import { settle, type Targets, x } from "./targets.ts";

/** What a managed request costs besides the wait for its first byte. */
export async function* loadCells(targets: Targets, options: BenchOptions): AsyncGenerator<Cell> {
  yield await cpuCell(targets, options);
  yield await deltaCell(targets, options);
  yield await loopCell(targets);
  yield* memoryCells(targets, options);
}

async function talks(child: Child, name: string, { count, bytes }: Crowd): Promise<readonly Line[]> {
  const opened = Array.from({ length: count }, async (_, at) => ({
    talk: new Talk(`${name}-${at}`, bytes),
    connection: await Connection.open(child.port),
  }));
  return await Promise.all(opened);
}
type Line = { readonly talk: Talk; readonly connection: Connection };
type Crowd = { readonly count: number; readonly bytes: number };

async function askAll(lines: readonly Line[], times: number): Promise<void> {
  await Promise.all(
    lines.map(async ({ talk, connection }) => {
      for (let sent = 0; sent < times; sent += 1) await connection.ask(talk);
    }),
  );
}

function close(lines: readonly Line[]): void {
  for (const { connection } of lines) connection.close();
}

async function cpuCell(targets: Targets, { quick }: BenchOptions): Promise<Cell> {
  const spentMs = { bare: 0, auto: 0 };
  const sizes = { count: 8, bytes: 1_000_000 };
  const lines = {
    bare: await talks(targets.bare, "cpu-bare", sizes),
    auto: await talks(targets.auto, "cpu-auto", sizes),
  };
  // What is collected, or done to what has grown old, comes in bursts: it counts wherever it falls.
  for (let round = -1; round < (quick ? 5 : 9); round += 1) {
    for (const target of ["bare", "auto"] as const) {
      const before = await targets[target].settled();
      await askAll(lines[target], 5);
      const after = await targets[target].settled();
      if (round >= 0) spentMs[target] += after.cpuMs - before.cpuMs;
    }
  }
  close([...lines.bare, ...lines.auto]);
  return {
    name: "CPU of a request of 1 MB, all threads: auto / bare proxy",
    figure: spentMs.auto / spentMs.bare,
    boundMax: 3,
    unit: "x",
    note: `8 at a time; its record included`,
  };
}

async function deltaCell(targets: Targets, { quick }: BenchOptions): Promise<Cell> {
  const delays = { bare: [] as number[], auto: [] as number[] };
  for (let round = 0; round < (quick ? 2 : 6); round += 1) {
    for (const target of ["bare", "auto"] as const) {
      const lines = await talks(targets[target], `delta-${target}-${round}`, { count: 8, bytes: 200_000 });
      for (let turn = 0; turn < 3; turn += 1) {
        const got = await Promise.all(lines.map(({ talk, connection }) => connection.delays(talk)));
        delays[target].push(...got.flat());
      }
      close(lines);
      await settle(targets);
    }
  }
  const p50 = quantile(delays.auto, 0.5) / quantile(delays.bare, 0.5);
  return {
    name: "delay of a delta, 8 streams, p99: auto / bare proxy",
    figure: quantile(delays.auto, 0.99) / quantile(delays.bare, 0.99),
    boundMax: 2,
    unit: "x",
    note: `p50 ${x(p50)}, ${delays.auto.length} deltas`,
  };
}

async function loopCell({ auto }: Targets): Promise<Cell> {
  const lines = await talks(auto, "loop", { count: 50, bytes: 400_000 });
  await auto.status();
  await askAll(lines, 1);
  const first = await auto.status();
  await askAll(lines, 4);
  const { loopMs } = await auto.settled();
  close(lines);
  return {
    name: "event loop delay, 50 requests of 400 KB at once, p99",
    figure: Math.max(first.loopMs, loopMs),
    boundMax: 20,
    unit: " ms",
    note: `first requests ${first.loopMs.toFixed(1)} ms, later ones ${loopMs.toFixed(1)} ms`,
  };
}

async function* memoryCells({ auto }: Targets, { quick }: BenchOptions): AsyncGenerator<Cell> {
  const content = 1_000_000;
  const sessions = quick ? 16 : 32;
  const before = await auto.memory();
  const lines = await talks(auto, "memory", { count: sessions, bytes: content });
  for (const line of lines) await askAll([line], 3);
  const after = await auto.memory();
  const each = (after.rssBytes - before.rssBytes) / sessions / content;
  yield {
    name: "memory of a live session of 1 MB, against its content",
    figure: each,
    boundMax: 4,
    unit: "x",
    note: `${sessions} sessions; ${Math.round(after.rssBytes / 2 ** 20)} MiB in all`,
  };
  const others = await talks(auto, "others", { count: 10, bytes: 20_000 });
  await askAll(others, quick ? 20 : 100);
  const later = await auto.memory();
  close([...lines, ...others]);
  yield {
    name: "memory after 1,000 turns of other sessions, against before",
    figure: later.rssBytes / after.rssBytes,
    boundMax: 1.1,
    unit: "x",
    note: quick ? "200 turns" : "1,000 turns",
  };
}
