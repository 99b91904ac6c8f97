// Random models use our tools, well and badly, with user acts, pauses and lost answers in between.
import { describe, expect, test } from "vitest";
import { type Random, seededRandom, unwrap } from "../../src/base/index.ts";
import { changes } from "../../src/engine/index.ts";
import { CommandKit } from "../support/command-kit.ts";
import { dump } from "../support/engine.ts";
import type { Attempt } from "../support/planner-kit.ts";
import { sharedUnits, type UpstreamUnit, upstreamUnits } from "../support/upstream-units.ts";
import { randomReply } from "./random-commands.ts";

const isLong = process.env["APERTURE_TEST_LONG"] === "1";
const seeds = Array.from({ length: isLong ? 400 : 12 }, (_, at) => at + 1);
const turns = 14;

const page = (n: number): string =>
  Array.from({ length: 40 }, (_, at) => `page ${n}, shelf ${at}: ${at * 7 + n} books, ${at} lent`).join("\n");

/** Requests whose answer was lost: the client continues from the request before. */
const lost = new WeakSet<Attempt>();

/** Counts events over all seeds, because an event that never happens proves nothing. */
const tally = new Map<string, number>();
const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);

describe.each(seeds)("seed %i", (seed) => {
  test("all requests are accepted, keep their prefix, hide our tools, and are in the log", async () => {
    const random = seededRandom(seed);
    let replies = 0;
    const next = (): number => {
      replies += 1;
      return replies;
    };
    const isStreamed = random.below(2) === 0;
    const kit = new CommandKit({
      model: () => ({ content: randomReply(random, next) }),
      policy: random.pick(["auto", "off"] as const),
      window: random.pick([60_000, 200_000]),
      mode: random.pick(["auto", "auto", "ask"] as const),
      maxTokens: 2_000,
      isStreamed,
    });
    for (let turn = 0; turn < turns; turn += 1) await oneTurn(kit, random, turn);
    await checkAll(kit);
  });
});

async function oneTurn(kit: CommandKit, random: Random, turn: number): Promise<void> {
  if (turn > 2) await randomEvent(kit, random);
  const isLost = turn > 0 && random.below(8) === 0;
  const options = isLost ? { isLost } : {};
  const open = kit.history.at(-1)?.content ?? [];
  const hasCalls = typeof open !== "string" && open.some(({ type }) => type === "tool_use");
  const from = kit.sent.length;
  if (hasCalls) await kit.results(page(turn), options);
  else await kit.say(`Question ${turn} about the books.`, options);
  count(`rounds ${Math.min(2, kit.sent.length - from - 1)}`);
  if (isLost) count("lost");
  if (isLost) for (const attempt of kit.sent.slice(from)) lost.add(attempt);
}

async function randomEvent(kit: CommandKit, random: Random): Promise<void> {
  const what = random.pick(["nothing", "nothing", "rest", "pin", "select", "undo", "restart"]);
  const { blocks } = await kit.state();
  const ids = [...blocks.entries()].map(([, { block }]) => block.id);
  if (what === "rest") kit.clock.advance(2 * 60 * 60_000);
  if (what === "pin") await kit.act((change) => changes.pin(change, [random.pick(ids)], "top"));
  if (what === "select") await kit.act((change) => changes.select(change, [random.pick(ids)]));
  if (what === "restart") kit.restart();
  if (what === "undo") {
    const { steps } = await kit.state();
    const open = [...steps.entries()].flatMap(([, { id, log }]) => (log.value.done ? [id] : []));
    const last = open.at(-1);
    if (last !== undefined) await kit.recorder.reverseStep(kit.session, "undo", last);
  }
  count(what);
}

async function checkAll(kit: CommandKit): Promise<void> {
  expect(kit.problems()).toEqual([]);
  expect(kit.recorder.counts().gaps).toBe(0);
  expect(JSON.stringify(kit.history)).not.toContain("aperture");
  expect(prefixBreaks(kit)).toEqual([]);
  const frames = await kit.commandFrames();
  for (const { actor, deltas } of frames) for (const { type } of deltas) count(`${actor} ${type}`);
  expect(unwrap(await kit.store.verify("all")).damage).toEqual([]);
  const live = dump(await kit.state());
  kit.restart();
  expect(dump(await kit.state())).toEqual(live);
}

/** Requests that changed their prefix without an epoch. */
function prefixBreaks(kit: CommandKit): readonly string[] {
  let before: readonly UpstreamUnit[] = [];
  return kit.sent.flatMap((attempt, at) => {
    const units = upstreamUnits(attempt.body);
    const isSame = sharedUnits(before, units) === before.length;
    const isEpoch = (attempt.sending.sent?.epoch ?? null) !== null;
    if (!lost.has(attempt)) before = units;
    return isSame || isEpoch ? [] : [`request ${at}`];
  });
}

test("every kind of event has happened", () => {
  const wanted = ["rounds 0", "rounds 1", "rounds 2", "lost", "rest", "undo", "restart"];
  const done = ["archive-set", "level-set", "pin-set", "focus-set", "block-added", "approval-asked"];
  const missing = [...wanted, ...done.map((type) => `model ${type}`)].filter((what) => !tally.has(what));
  expect(missing).toEqual([]);
});
