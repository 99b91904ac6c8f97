import { expect, test } from "vitest";
import { recorderOn } from "../../test/support/act-on-log.ts";
import { ObservedSession } from "../../test/support/observed-session.ts";
import { ok, unwrap } from "../base/index.ts";
import { nextStepId, ruleChanges } from "../engine/index.ts";
import { now } from "../engine/moment/index.ts";
import { isDurableInTime, type SessionLog, withDurabilityNote } from "../log/index.ts";
import { openMemoryStore, type Store } from "../store/index.ts";
import type { LiveSession } from "./live-session.ts";

const clock = { now: () => 1_700_000_000_000 };

test("a log on a stuck disk is reported as not durable after a short wait", async () => {
  const log = { durable: () => new Promise(() => undefined) } as Pick<SessionLog, "durable">;
  expect(await isDurableInTime(log, 10)).toBe(false);
  expect(withDurabilityNote("Pinned #1.", { durable: false })).toContain(
    "Pinned #1.\nIt holds now, but it is not",
  );
  expect(withDurabilityNote("Pinned #1.", { durable: true })).toBe("Pinned #1.");
});

function setModeAuto(live: LiveSession) {
  const deltas = unwrap(ruleChanges.setMode({ moment: now(live.state()), actor: "user" }, "auto"));
  const cause = { type: "command", step: nextStepId(live.state()), reason: "" } as const;
  return live.append({ deltas, actor: "user", cause }).ok ? ok({}) : ok({ isRefused: true });
}

test("an act resolves once it is on disk, and not before", async () => {
  const memory = openMemoryStore();
  const { log } = await ObservedSession.open(memory, "s1", clock);
  let sync: () => void = () => undefined;
  const synced = new Promise<void>((resolve) => {
    sync = resolve;
  });
  const store: Store = {
    ...memory,
    append: (batch) => {
      const appended = memory.append(batch);
      return appended.accepted ? { ...appended, durable: synced.then(() => appended.durable) } : appended;
    },
  };
  const recorder = recorderOn(store, clock);
  const { session } = log.state();
  let isAnswered = false;
  const answer = recorder.inSession(session, setModeAuto).finally(() => {
    isAnswered = true;
  });
  // Work that changes nothing does not wait for the disk.
  expect(await recorder.inSession(session, () => ok({}))).toEqual(ok({ durable: true }));
  expect(isAnswered).toBe(false);
  sync();
  expect(await answer).toEqual(ok({ durable: true }));
});
