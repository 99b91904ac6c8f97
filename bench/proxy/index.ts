import { median, quantile } from "../measure.ts";
import { type BenchOptions, type Cell, withoutBounds } from "../report.ts";
import { Connection } from "./client.ts";
import { flatCells } from "./flat.ts";
import { GrowingSession } from "./growing-session.ts";
import { loadCells } from "./load.ts";
import { startTargets, type Target, type Targets, targets, timesText, waitUntilRecorded } from "./targets.ts";

const sizes = [
  ["5 KB", 5_000],
  ["200 KB", 200_000],
  ["1 MB", 1_000_000],
] as const;
const concurrencies = [1, 8, 32] as const;
/** The quick form only shows that every measurement works. */
const quickSizes = sizes.slice(0, 2);
const quickConcurrencies = concurrencies.slice(0, 2);
/** Bounds of the time to the first byte relative to the bare proxy. */
const bounds = { observe: 1.3, auto: 1.5 } as const;

export function proxyCells(options: BenchOptions): AsyncGenerator<Cell> {
  const cells = measureProxy(options);
  return options.quick ? withoutBounds(cells) : cells;
}

async function* measureProxy(options: BenchOptions): AsyncGenerator<Cell> {
  const started = await startTargets();
  try {
    await warmUp(started, options);
    for (const [label, bytes] of options.quick ? quickSizes : sizes) {
      for (const concurrency of options.quick ? quickConcurrencies : concurrencies) {
        yield* firstByteCells(started, { label, bytes, concurrency, quick: options.quick });
      }
    }
    yield* loadCells(started, options);
    yield* flatCells(options);
    yield* recordedCells(started);
  } finally {
    for (const target of targets) started[target].end();
  }
}

/** A proxy runs for days, so every target is warmed up before it is measured. */
async function warmUp(started: Targets, { quick }: BenchOptions): Promise<void> {
  for (const target of targets) {
    const clients = Array.from({ length: 4 }, async (_, client) => {
      const connection = await Connection.open(started[target].port);
      for (let at = 0; at < (quick ? 1 : 30); at += 1) {
        const session = new GrowingSession(
          `warm-${target}-${client}-${at}`,
          sizes[at % sizes.length]?.[1] ?? 0,
        );
        for (let turn = 0; turn < (quick ? 2 : 25); turn += 1) await connection.ask(session);
      }
      connection.close();
    });
    await Promise.all(clients);
    await waitUntilRecorded(started);
  }
}

async function* recordedCells({ observe, auto }: Targets): AsyncGenerator<Cell> {
  const [observed, managed] = [await observe.waitUntilRecorded(), await auto.waitUntilRecorded()];
  yield {
    name: "requests that were not recorded in full",
    figure: observed.missed + managed.missed,
    boundMax: null,
    unit: "",
    note: `of ${observed.requests + managed.requests}`,
  };
  yield {
    name: "requests in auto that were not managed, because the log was late",
    figure: (100 * (managed.requests - managed.managed)) / managed.requests,
    boundMax: 5,
    unit: " %",
    note: `${managed.requests - managed.managed} of ${managed.requests}`,
  };
}

type FirstByteSetting = {
  readonly label: string;
  readonly bytes: number;
  readonly concurrency: number;
  readonly quick: boolean;
};

async function* firstByteCells(started: Targets, setting: FirstByteSetting): AsyncGenerator<Cell> {
  const { label, concurrency, quick } = setting;
  const rounds = quick ? 1 : 11;
  const medians = new Map<Target, number[]>(targets.map((target) => [target, []]));
  const all = new Map<Target, number[]>(targets.map((target) => [target, []]));
  const clients = await openClients(started, setting);
  for (let round = -1; round < rounds; round += 1) {
    for (const target of rotated(round)) {
      const times = await oneRound(clients.get(target) ?? [], setting);
      await waitUntilRecorded(started);
      if (round < 0) continue;
      medians.get(target)?.push(median(times));
      all.get(target)?.push(...times);
    }
  }
  for (const client of [...clients.values()].flat()) client.connection.close();
  const of = (target: Target): readonly number[] => medians.get(target) ?? [];
  const ratio = (a: Target, b: Target): number =>
    median(of(a).map((ms, at) => ms / (of(b)[at] ?? Number.NaN)));
  const p95 = (target: Target): number => quantile(all.get(target) ?? [], 0.95);
  const floors = `bare/direct ${timesText(ratio("bare", "direct"))}, parse + stringify/bare ${timesText(ratio("parse", "bare"))}`;
  for (const mode of ["observe", "auto"] as const) {
    const p95Text = timesText(p95(mode) / p95("bare"));
    yield {
      name: `first byte, ${label}, ${concurrency} at a time: ${mode} / bare proxy`,
      figure: ratio(mode, "bare"),
      boundMax: bounds[mode],
      unit: "x",
      note: `${mode}/direct ${timesText(ratio(mode, "direct"))}, ${floors}; p95 ${p95Text}`,
    };
  }
}

/** Each round begins with another target, so that none always follows the same one. */
function rotated(round: number): readonly Target[] {
  const first = (round + targets.length) % targets.length;
  return [...targets.slice(first), ...targets.slice(0, first)];
}

type SessionClient = { readonly session: GrowingSession; readonly connection: Connection };

/**
 * Opens a connection and a session for each client of each target; the sessions grow from round to round. The
 * first request of each is sent here: it opens a connection to the upstream, which must not be measured.
 */
async function openClients(
  started: Targets,
  setting: FirstByteSetting,
): Promise<ReadonlyMap<Target, readonly SessionClient[]>> {
  const clients = new Map<Target, readonly SessionClient[]>();
  for (const target of targets) {
    const opened = Array.from({ length: setting.concurrency }, async (_, at) => {
      const name = `${target}-${setting.label.replace(" ", "")}-${setting.concurrency}-${at}`;
      const session = new GrowingSession(name, setting.bytes);
      const connection = await Connection.open(started[target].port);
      await connection.ask(session);
      return { session, connection };
    });
    clients.set(target, await Promise.all(opened));
    await waitUntilRecorded(started);
  }
  return clients;
}

async function oneRound(
  clients: readonly SessionClient[],
  setting: FirstByteSetting,
): Promise<readonly number[]> {
  const { bytes, concurrency, quick } = setting;
  const requests = Math.max(3, Math.round((quick ? 6 : 120) / concurrency / Math.max(1, bytes / 300_000)));
  const times = await Promise.all(
    clients.map(async ({ session, connection }) => {
      const own: number[] = [];
      for (let sent = 0; sent < requests; sent += 1) own.push(await connection.ask(session));
      return own;
    }),
  );
  return times.flat();
}
