// What `aperture replay` says of sessions whose every byte is known.
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import type { BodyEvidence } from "../../src/cli/replay/evidence.ts";
import { judgeReplay } from "../../src/cli/replay/judge.ts";
import { type PlayedSession, playSession } from "./play-session.ts";
import { casesFolder, readSession } from "./session-file.ts";

async function evidenceOf({ frames, store }: PlayedSession) {
  const { session } = must(frames[0], "something was recorded");
  const stored = await store.bodies(session);
  const bodies: BodyEvidence[] = [];
  for (const { exchange, side, hash } of stored.ok ? stored.value : []) {
    const read = await store.body({ session, exchange, side });
    if (read.ok) bodies.push({ request: exchange, side, hash, bytes: read.value });
  }
  return { session, frames, maskedFrames: new Set<number>(), bodies, raw: [], requests: 0 };
}

test("the ledger spells every managed request of every golden session", async () => {
  let all = 0;
  for (const name of readdirSync(casesFolder)) {
    const played = await playSession(readSession(name));
    if (played.frames.length === 0) continue;
    const { managed, problems } = judgeReplay(await evidenceOf(played), null);
    expect(problems, name).toEqual([]);
    expect(managed.identical, name).toBe(managed.all);
    all += managed.all;
  }
  expect(all).toBeGreaterThan(300);
}, 120_000);

test("a body in which one letter of one unit differs is told by name", async () => {
  const evidence = await evidenceOf(await playSession(readSession("one-turn")));
  const bodies = evidence.bodies.map((body): BodyEvidence => {
    if (body.side !== "upstream-request" || !(body.bytes instanceof Uint8Array)) return body;
    const text = Buffer.from(body.bytes).toString("utf8").replace("rivers", "rovers");
    return { ...body, bytes: Buffer.from(text) };
  });
  const { problems } = judgeReplay({ ...evidence, bodies }, null);
  expect(problems).toContainEqual(
    expect.stringMatching(/^request \d+: the upstream body differs from the ledger$/),
  );
});
