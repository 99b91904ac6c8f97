import { expect, test } from "vitest";
import { recorderOn } from "../../../test/support/acting.ts";
import { WatchedSession } from "../../../test/support/watched-session.ts";
import { ok, unwrap } from "../../base/index.ts";
import { nextStep, now, setMode } from "../../engine/index.ts";
import { openMemoryStore, type Store } from "../../store/index.ts";
import type { SessionLog } from "../session-log.ts";
import { isDurableSoon, withDurable } from "./durable.ts";
import type { LiveSession } from "./live-session.ts";

const clock = { now: () => 1_700_000_000_000 };

test("a log whose disk says nothing is not durable, and nobody waits for it for long", async () => {
  const log = { durable: () => new Promise(() => undefined) } as Pick<SessionLog, "durable">;
  expect(await isDurableSoon(log, 10)).toBe(false);
  expect(withDurable("Pinned #1.", { durable: false })).toContain("Pinned #1.\nIt holds now, but it is not");
  expect(withDurable("Pinned #1.", { durable: true })).toBe("Pinned #1.");
});

function toAuto(live: LiveSession) {
  const deltas = unwrap(setMode({ moment: now(live.state()), actor: "user" }, "auto"));
  const cause = { type: "command", step: nextStep(live.state()), reason: "" } as const;
  return live.carry({ deltas, actor: "user", cause }).ok ? ok({}) : ok({ isRefused: true });
}

test("an act is answered when it is on disk, and not before", async () => {
  const memory = openMemoryStore();
  const { log } = await WatchedSession.open(memory, "s1", clock);
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
  const answer = recorder.within(session, toAuto).finally(() => {
    isAnswered = true;
  });
  // What is only looked at does not wait for what others have done.
  expect(await recorder.within(session, () => ok({}))).toEqual(ok({ durable: true }));
  expect(isAnswered).toBe(false);
  sync();
  expect(await answer).toEqual(ok({ durable: true }));
});
