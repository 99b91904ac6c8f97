import { median, quantile } from "../measure.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { Connection } from "./client.ts";
import { flatCells } from "./flat.ts";
import { loadCells } from "./load.ts";
import { Talk } from "./talk.ts";
import { settle, startTargets, type Target, type Targets, targets, x } from "./targets.ts";

const sizes = [
  ["5 KB", 5_000],
  ["200 KB", 200_000],
  ["1 MB", 1_000_000],
] as const;
const concurrencies = [1, 8, 32] as const;
/** First byte against the bare proxy: the promises of the proxy. */
const bounds = { observe: 1.3, auto: 1.5 } as const;

export async function* proxyCells(options: BenchOptions): AsyncGenerator<Cell> {
  const started = await startTargets();
  try {
    await warmUp(started, options);
    for (const [label, bytes] of sizes) {
      for (const concurrency of concurrencies) {
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

/** A proxy runs for days: none is measured that was started a moment ago. The same for every target. */
async function warmUp(started: Targets, { quick }: BenchOptions): Promise<void> {
  for (const target of targets) {
    const clients = Array.from({ length: 4 }, async (_, client) => {
      const connection = await Connection.open(started[target].port);
      for (let at = 0; at < (quick ? 3 : 30); at += 1) {
        const talk = new Talk(`warm-${target}-${client}-${at}`, sizes[at % sizes.length]?.[1] ?? 0);
        for (let turn = 0; turn < 25; turn += 1) await connection.ask(talk);
      }
      connection.close();
    });
    await Promise.all(clients);
    await settle(started);
  }
}

async function* recordedCells({ observe, auto }: Targets): AsyncGenerator<Cell> {
  const [watched, managed] = [await observe.settled(), await auto.settled()];
  yield {
    name: "requests that were not recorded in full",
    figure: watched.missed + managed.missed,
    boundMax: null,
    unit: "",
    note: `of ${watched.requests + managed.requests}`,
  };
  yield {
    name: "requests in auto that were not managed, because the log was late",
    figure: (100 * (managed.requests - managed.managed)) / managed.requests,
    boundMax: 5,
    unit: " %",
    note: `${managed.requests - managed.managed} of ${managed.requests}`,
  };
}

type Setting = {
  readonly label: string;
  readonly bytes: number;
  readonly concurrency: number;
  readonly quick: boolean;
};

async function* firstByteCells(started: Targets, setting: Setting): AsyncGenerator<Cell> {
  const { label, concurrency, quick } = setting;
  const rounds = quick ? 3 : 11;
  const medians = new Map<Target, number[]>(targets.map((target) => [target, []]));
  const all = new Map<Target, number[]>(targets.map((target) => [target, []]));
  const lines = await openLines(started, setting);
  for (let round = -1; round < rounds; round += 1) {
    for (const target of rotated(round)) {
      const times = await oneRound(lines.get(target) ?? [], setting);
      await settle(started);
      if (round < 0) continue;
      medians.get(target)?.push(median(times));
      all.get(target)?.push(...times);
    }
  }
  for (const line of [...lines.values()].flat()) line.connection.close();
  const of = (target: Target): readonly number[] => medians.get(target) ?? [];
  const ratio = (a: Target, b: Target): number =>
    median(of(a).map((ms, at) => ms / (of(b)[at] ?? Number.NaN)));
  const p95 = (target: Target): number => quantile(all.get(target) ?? [], 0.95);
  const floors = `bare/direct ${x(ratio("bare", "direct"))}, parse + stringify/bare ${x(ratio("parse", "bare"))}`;
  for (const mode of ["observe", "auto"] as const) {
    yield {
      name: `first byte, ${label}, ${concurrency} at a time: ${mode} / bare proxy`,
      figure: ratio(mode, "bare"),
      boundMax: bounds[mode],
      unit: "x",
      note: `${mode}/direct ${x(ratio(mode, "direct"))}, ${floors}; p95 ${x(p95(mode) / p95("bare"))}`,
    };
  }
}

/** Each round begins with another target, so that no one always follows the same. */
function rotated(round: number): readonly Target[] {
  const first = (round + targets.length) % targets.length;
  return [...targets.slice(first), ...targets.slice(0, first)];
}

type Line = { readonly talk: Talk; readonly connection: Connection };

/**
 * A connection and a session for each client of each target; the sessions grow from round to round. Their
 * first requests open a session and a connection to the upstream, which is not what is measured.
 */
async function openLines(started: Targets, setting: Setting): Promise<ReadonlyMap<Target, readonly Line[]>> {
  const lines = new Map<Target, readonly Line[]>();
  for (const target of targets) {
    const opened = Array.from({ length: setting.concurrency }, async (_, at) => {
      const name = `${target}-${setting.label.replace(" ", "")}-${setting.concurrency}-${at}`;
      const talk = new Talk(name, setting.bytes);
      const connection = await Connection.open(started[target].port);
      await connection.ask(talk);
      return { talk, connection };
    });
    lines.set(target, await Promise.all(opened));
    await settle(started);
  }
  return lines;
}

async function oneRound(lines: readonly Line[], setting: Setting): Promise<readonly number[]> {
  const { bytes, concurrency, quick } = setting;
  const requests = Math.max(3, Math.round((quick ? 30 : 120) / concurrency / Math.max(1, bytes / 300_000)));
  const times = await Promise.all(
    lines.map(async ({ talk, connection }) => {
      const own: number[] = [];
      for (let sent = 0; sent < requests; sent += 1) own.push(await connection.ask(talk));
      return own;
    }),
  );
  return times.flat();
}
