import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../src/base/index.ts";
import { type StrictUpstream, startStrictUpstream, type UpstreamExchange } from "../../src/testing/index.ts";
import { startChild } from "../support/child.ts";
import { prefixBreaks } from "../support/test-client.ts";
import { isManaged } from "./managed-bodies.ts";

/** The time from the signal until the next process listens, by `performance.now()`. */
export type Kill = { readonly from: number; readonly to: number };

/** Aperture as a process that is killed and started again, always at the same address. */
export type KillRig = {
  readonly url: string;
  readonly upstream: StrictUpstream;
  readonly kills: readonly Kill[];
  /** Kills it so many times at random moments, and leaves the last process running. */
  readonly kill: (times: number, random: Random) => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function startKillRig(): Promise<KillRig> {
  // Slow enough that many kills hit an answer in progress.
  const upstream = await startStrictUpstream({ pace: { chunkMs: 10 } });
  const folder = mkdtempSync(join(tmpdir(), "aperture-killed-"));
  const port = await freePort();
  const args = [upstream.url, join(folder, "data"), String(port)];
  const kills: Kill[] = [];
  let running = await startAperture(args);
  let isClosed = false;
  return {
    url: `http://127.0.0.1:${port}`,
    upstream,
    kills,
    kill: async (times, random) => {
      for (let left = times; left > 0 && !isClosed; left -= 1) {
        await untilRequest(upstream);
        await sleep(random.below(600));
        const from = performance.now();
        await kill(running);
        running = await startAperture(args);
        kills.push({ from, to: performance.now() });
      }
      if (isClosed) await kill(running);
    },
    close: async () => {
      isClosed = true;
      await kill(running);
      await upstream.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Waits for a request, so that every kill hits a session. */
async function untilRequest({ exchanges }: StrictUpstream): Promise<void> {
  const before = exchanges.length;
  for (let tries = 0; exchanges.length === before && tries < 600; tries += 1) await sleep(25);
}

/** Resolves once it listens. Its requests wait for the log, however busy the machine is. */
async function startAperture(args: readonly string[]): Promise<ChildProcess> {
  const child = startChild("test/faults/app-child.mjs", args, "pipe");
  if ((await child.said(() => true)) !== null) return child.process;
  throw new Error(`Aperture did not start: ${(await child.ended).stderr}`);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** The effects of the kills on one session. */
export type Damage = {
  readonly requests: number;
  readonly managed: number;
  /** Kills between its first request and its last. */
  readonly kills: number;
  readonly breaks: number;
  /** Requests that were refused, and that Aperture sent again in another form. */
  readonly mended: number;
  /** Refusals although the session had been found again since the last kill. */
  readonly unexcused: readonly string[];
};

/** Only answered or refused requests count; the upstream never read a request that was cut off. */
export function damageOf(exchanges: readonly UpstreamExchange[], kills: readonly Kill[]): Damage {
  const read = exchanges.filter(({ status }) => status !== null);
  // A request of a dying process may arrive after the signal.
  const between = (from: number, to: number): number =>
    kills.filter((kill) => kill.to > from && kill.from < to).length;
  const accepted = read.filter(({ status }) => status === 200);
  const refused = read.filter(({ status }) => status === 400);
  const isFound = ({ arrivedMs }: UpstreamExchange): boolean =>
    between(0, arrivedMs) === 0 ||
    accepted.some(
      (one) => isManaged(one) && one.arrivedMs < arrivedMs && between(one.arrivedMs, arrivedMs) === 0,
    );
  return {
    requests: read.length,
    managed: accepted.filter(isManaged).length,
    kills: between(read[0]?.arrivedMs ?? 0, read.at(-1)?.arrivedMs ?? 0),
    breaks: prefixBreaks(accepted.map(({ body }) => body)),
    mended: refused.length,
    unexcused: refused.filter(isFound).map(({ error }) => error?.message ?? "400"),
  };
}

export function sumOf(damages: readonly Damage[]): Omit<Damage, "unexcused"> {
  const sum = (figure: (damage: Damage) => number): number =>
    damages.reduce((total, damage) => total + figure(damage), 0);
  return {
    requests: sum(({ requests }) => requests),
    managed: sum(({ managed }) => managed),
    kills: sum(({ kills }) => kills),
    breaks: sum(({ breaks }) => breaks),
    mended: sum(({ mended }) => mended),
  };
}
