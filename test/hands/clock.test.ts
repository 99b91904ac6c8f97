// The clock may jump: order comes from seq, and expiry is counted in turns.
import { expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { blockViewOf, factValue, now, viewBlocks, viewOf } from "../../src/engine/moment/index.ts";
import type { ReplyBlock } from "../../src/testing/index.ts";
import { CommandKit } from "../support/command-kit.ts";

const yearMs = 365 * 24 * 60 * 60_000;
const jumps = [10 * yearMs, -20 * yearMs, 1, -60 * 60_000, 60 * 60_000, -1, 0];

const read: ReplyBlock = { type: "tool_use", name: "read", input: {} };
const own = (verb: string): ReplyBlock => ({ type: "tool_use", name: "aperture_read", input: { verb } });

async function play(jumpMs: readonly number[]): Promise<CommandKit> {
  let requests = 0;
  const kit = new CommandKit({
    policy: "off",
    model: ({ messages }) => {
      requests += 1;
      const lastUserContent = messages.findLast(({ role }) => role === "user")?.content ?? [];
      const isNew = !lastUserContent.some(({ type }) => type === "tool_result");
      return { content: isNew ? [own("manifest"), read] : [{ type: "text", text: `answer ${requests}` }] };
    },
  });
  for (const ms of jumpMs) {
    await kit.say("Read on.");
    kit.clock.advance(ms);
    await kit.results(`A page. ${"Many words. ".repeat(60)}`);
    kit.clock.advance(ms);
  }
  return kit;
}

async function expiries(kit: CommandKit) {
  const moment = now(await kit.state());
  const view = must(viewOf(moment, 1 as Parameters<typeof viewOf>[1]), "there is one");
  return [...viewBlocks(moment, view)].map(({ id, kind, turn }) => {
    const blockView = must(blockViewOf(moment, view, id), "it is in its view");
    return [id, kind, turn, factValue(blockView, "ttl")];
  });
}

test("clock jumps of years and hours change neither expiry nor order", async () => {
  const [still, jumped] = [await play(jumps.map(() => 0)), await play(jumps)];
  expect(await expiries(jumped)).toEqual(await expiries(still));
  expect(jumped.problems()).toEqual([]);
  const frames = await jumped.frames();
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at + 1));
  expect(frames.some(({ time }, at) => time < (frames[at - 1]?.time ?? 0))).toBe(true);
  for (const { body } of jumped.sent) expect(body.toString()).not.toMatch(/NaN|\+-|Invalid Date/);
});
