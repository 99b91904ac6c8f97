import { quantile } from "../measure.ts";
import { type BenchOptions, type Cell, countText } from "../report.ts";
import type { Child } from "./child.ts";
import { Connection } from "./client.ts";
import { GrowingSession } from "./growing-session.ts";
import { type Targets, timesText, waitUntilRecorded } from "./targets.ts";

/** The costs of a managed request besides the time to its first byte. */
export async function* loadCells(targets: Targets, options: BenchOptions): AsyncGenerator<Cell> {
  yield await cpuCell(targets, options);
  yield await deltaCell(targets, options);
  yield await loopCell(targets, options);
  yield* memoryCells(targets, options);
}

async function openLoadClients(
  child: Child,
  name: string,
  { count, bytes }: ClientGroup,
): Promise<readonly LoadClient[]> {
  const opened = Array.from({ length: count }, async (_, at) => ({
    session: new GrowingSession(`${name}-${at}`, bytes),
    connection: await Connection.open(child.port),
  }));
  return await Promise.all(opened);
}
type LoadClient = { readonly session: GrowingSession; readonly connection: Connection };
type ClientGroup = { readonly count: number; readonly bytes: number };

async function askAll(clients: readonly LoadClient[], times: number): Promise<void> {
  await Promise.all(
    clients.map(async ({ session, connection }) => {
      for (let sent = 0; sent < times; sent += 1) await connection.ask(session);
    }),
  );
}

function close(clients: readonly LoadClient[]): void {
  for (const { connection } of clients) connection.close();
}

async function cpuCell(targets: Targets, { quick }: BenchOptions): Promise<Cell> {
  const spentMs = { bare: 0, auto: 0 };
  const sizes = { count: quick ? 2 : 8, bytes: 1_000_000 };
  const clients = {
    bare: await openLoadClients(targets.bare, "cpu-bare", sizes),
    auto: await openLoadClients(targets.auto, "cpu-auto", sizes),
  };
  // Garbage collection and work on old blocks come in bursts, so all rounds are summed up.
  for (let round = -1; round < (quick ? 1 : 9); round += 1) {
    for (const target of ["bare", "auto"] as const) {
      const before = await targets[target].waitUntilRecorded();
      await askAll(clients[target], 5);
      const after = await targets[target].waitUntilRecorded();
      if (round >= 0) spentMs[target] += after.cpuMs - before.cpuMs;
    }
  }
  close([...clients.bare, ...clients.auto]);
  return {
    name: "CPU of a request of 1 MB, all threads: auto / bare proxy",
    figure: spentMs.auto / spentMs.bare,
    boundMax: 3,
    unit: "x",
    note: `${sizes.count} at a time; its record included`,
  };
}

async function deltaCell(targets: Targets, { quick }: BenchOptions): Promise<Cell> {
  const delays = { bare: [] as number[], auto: [] as number[] };
  for (let round = 0; round < (quick ? 1 : 6); round += 1) {
    for (const target of ["bare", "auto"] as const) {
      const clients = await openLoadClients(targets[target], `delta-${target}-${round}`, {
        count: 8,
        bytes: 200_000,
      });
      for (let turn = 0; turn < (quick ? 1 : 3); turn += 1) {
        const got = await Promise.all(clients.map(({ session, connection }) => connection.delays(session)));
        delays[target].push(...got.flat());
      }
      close(clients);
      await waitUntilRecorded(targets);
    }
  }
  const p50 = quantile(delays.auto, 0.5) / quantile(delays.bare, 0.5);
  return {
    name: "delay of a delta, 8 streams, p99: auto / bare proxy",
    figure: quantile(delays.auto, 0.99) / quantile(delays.bare, 0.99),
    boundMax: 2,
    unit: "x",
    note: `p50 ${timesText(p50)}, ${delays.auto.length} deltas`,
  };
}

async function loopCell({ auto }: Targets, { quick }: BenchOptions): Promise<Cell> {
  const count = quick ? 5 : 50;
  const clients = await openLoadClients(auto, "loop", { count, bytes: 400_000 });
  await auto.status();
  await askAll(clients, 1);
  const first = await auto.status();
  await askAll(clients, 4);
  const { loopMs } = await auto.waitUntilRecorded();
  close(clients);
  return {
    name: `event loop delay, ${count} requests of 400 KB at once, p99`,
    figure: Math.max(first.loopMs, loopMs),
    boundMax: 20,
    unit: " ms",
    note: `first requests ${first.loopMs.toFixed(1)} ms, later ones ${loopMs.toFixed(1)} ms`,
  };
}

async function* memoryCells({ auto }: Targets, { quick }: BenchOptions): AsyncGenerator<Cell> {
  const content = 1_000_000;
  const sessions = quick ? 2 : 32;
  const before = await auto.memory();
  const clients = await openLoadClients(auto, "memory", { count: sessions, bytes: content });
  for (const client of clients) await askAll([client], 3);
  const after = await auto.memory();
  const each = (after.rssBytes - before.rssBytes) / sessions / content;
  yield {
    name: "memory of a live session of 1 MB, against its content",
    figure: each,
    boundMax: 4,
    unit: "x",
    note: `${sessions} sessions; ${Math.round(after.rssBytes / 2 ** 20)} MiB in all`,
  };
  const turns = quick ? 20 : 1_000;
  const others = await openLoadClients(auto, "others", { count: 10, bytes: 20_000 });
  await askAll(others, turns / others.length);
  const later = await auto.memory();
  close([...clients, ...others]);
  yield {
    name: `memory after ${countText(turns)} turns of other sessions, against before`,
    figure: later.rssBytes / after.rssBytes,
    boundMax: 1.1,
    unit: "x",
    note: "",
  };
}
