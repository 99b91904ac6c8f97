import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { median, quantile } from "../measure.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { Connection } from "./client.ts";
import { Talk } from "./talk.ts";

const sizes = [
  ["5 KB", 5_000],
  ["200 KB", 200_000],
  ["1 MB", 1_000_000],
] as const;
const concurrencies = [1, 8, 32] as const;
const targets = ["direct", "bare", "observe", "parse"] as const;
type Target = (typeof targets)[number];

/** First byte of `observe` against the bare proxy: the promise of the proxy. */
const boundMax = 1.3;

type Status = {
  readonly waitingBytes: number;
  readonly counts: { readonly requests: number; readonly gaps: number; readonly unread: number };
  readonly recorderFaults: number;
  readonly rssBytes: number;
};
type Ports = Readonly<Record<Target, number>>;
type Bench = { readonly ports: Ports; readonly status: () => Promise<Status>; readonly end: () => void };

export async function* proxyCells({ quick }: BenchOptions): AsyncGenerator<Cell> {
  const bench = await startTargets();
  try {
    for (const [label, bytes] of sizes) {
      for (const concurrency of concurrencies) yield* cellsOf(bench, { label, bytes, concurrency, quick });
    }
    const { counts, recorderFaults, rssBytes } = await bench.status();
    yield {
      name: "requests that were not recorded in full",
      figure: counts.gaps + counts.unread + recorderFaults,
      boundMax: null,
      unit: "",
      note: `of ${counts.requests}; peak of the whole process ${Math.round(rssBytes / 2 ** 20)} MiB at the end`,
    };
  } finally {
    bench.end();
  }
}

type Setting = {
  readonly label: string;
  readonly bytes: number;
  readonly concurrency: number;
  readonly quick: boolean;
};

async function* cellsOf(bench: Bench, setting: Setting): AsyncGenerator<Cell> {
  const { label, concurrency, quick } = setting;
  const rounds = quick ? 5 : 11;
  const medians = new Map<Target, number[]>(targets.map((target) => [target, []]));
  const all = new Map<Target, number[]>(targets.map((target) => [target, []]));
  const lines = await openLines(bench, setting);
  for (let round = -1; round < rounds; round += 1) {
    for (const target of rotated(round)) {
      const times = await oneRound(lines.get(target) ?? [], setting);
      // What is still being written down must not be charged to whoever is measured next.
      await settled(bench);
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
  const figures = `observe/direct ${x(ratio("observe", "direct"))}, bare/direct ${x(ratio("bare", "direct"))}`;
  yield {
    name: `first byte, ${label}, ${concurrency} at a time: observe / bare proxy`,
    figure: ratio("observe", "bare"),
    boundMax,
    unit: "x",
    note: `${figures}, parse + stringify/bare ${x(ratio("parse", "bare"))}; p95 ${x(p95("observe") / p95("bare"))}`,
  };
}

function x(value: number): string {
  return `${value.toFixed(2)}x`;
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
async function openLines(bench: Bench, setting: Setting): Promise<ReadonlyMap<Target, readonly Line[]>> {
  const lines = new Map<Target, readonly Line[]>();
  for (const target of targets) {
    const opened = Array.from({ length: setting.concurrency }, async (_, at) => {
      const talk = new Talk(
        `${target}-${setting.label.replace(" ", "")}-${setting.concurrency}-${at}`,
        setting.bytes,
      );
      const connection = await Connection.open(bench.ports[target]);
      await connection.ask(talk);
      return { talk, connection };
    });
    lines.set(target, await Promise.all(opened));
    await settled(bench);
  }
  return lines;
}

async function oneRound(lines: readonly Line[], setting: Setting): Promise<readonly number[]> {
  const { bytes, concurrency, quick } = setting;
  const requests = Math.max(3, Math.round((quick ? 60 : 120) / concurrency / Math.max(1, bytes / 300_000)));
  const times = await Promise.all(
    lines.map(async ({ talk, connection }) => {
      const own: number[] = [];
      for (let sent = 0; sent < requests; sent += 1) own.push(await connection.ask(talk));
      return own;
    }),
  );
  return times.flat();
}

async function settled({ status }: Bench): Promise<void> {
  while ((await status()).waitingBytes > 0) await sleep(5);
}

async function startTargets(): Promise<Bench> {
  const children: ChildProcess[] = [];
  const start = async (file: string, ...args: readonly string[]): Promise<Started> => {
    const child = fork(new URL(file, import.meta.url), args, { execArgv: [] });
    children.push(child);
    const [{ port }] = (await once(child, "message")) as [{ readonly port: number }];
    return { child, port };
  };
  const { port: direct } = await start("./upstream.js");
  const { port: bare } = await start("./floors.js", "bare", `${direct}`);
  const { port: parse } = await start("./floors.js", "parse", `${direct}`);
  const { port: observe, child } = await start("./observe.js", `${direct}`);
  return {
    ports: { direct, bare, parse, observe },
    status: async () => {
      const answer = once(child, "message") as Promise<[Status]>;
      child.send("status");
      return (await answer)[0];
    },
    end: () => {
      for (const one of children) one.disconnect();
    },
  };
}
type Started = { readonly child: ChildProcess; readonly port: number };
