import { describe, expect, it } from "vitest";
import { fail, type SessionId, sessionId, unwrap } from "../../base/index.ts";
import type { Identity } from "../../engine/index.ts";
import { openMemoryStore, type Store } from "../../store/index.ts";
import { openSession } from "../session-log.ts";
import { Directory } from "./directory.ts";
import { credentialKey, keyOf, nameKey, startKey } from "./session-key.ts";

const whose = { owner: "local", upstream: "anthropic", client: "unknown" };
const start = startKey("c1", "user:1");

function identity(key: string): Identity {
  return { ...whose, key, project: null };
}

/** A store with a session for each key, the last one the newest. */
async function storeOf(keys: readonly string[]): Promise<Store> {
  const store = openMemoryStore();
  for (const [at, key] of keys.entries()) {
    const session = sessionId(`s-${at}`);
    const log = unwrap(await openSession({ store, session, clock: { now: () => 0 } }));
    const cause = { type: "session", step: null, reason: "" } as const;
    const deltas = [{ type: "session-identified", identity: identity(key) }] as const;
    unwrap(log.append({ stream: null, actor: "client", cause, deltas }));
  }
  await store.flush();
  return store;
}

function talk(talkName: string | null): string {
  return keyOf({ credential: "c1", protocol: "anthropic", sessionKey: null, talkName, first: "user:1" });
}

describe("a directory", () => {
  it("finds a talk by its beginning, its name and its credential, the newest first", async () => {
    const directory = new Directory(await storeOf([talk(null), talk("t-1"), talk("t-2")]));
    expect(await directory.find(whose, start)).toEqual(["s-2", "s-1", "s-0"]);
    expect(await directory.find(whose, credentialKey("c1"))).toEqual(["s-2", "s-1", "s-0"]);
    expect(await directory.named(whose, "t-1")).toBe("s-1");
    expect(directory.talkName(sessionId("s-2"))).toBe("t-2");
    expect(await directory.named({ ...whose, owner: "other" }, "t-1")).toBe(null);
  });

  it("puts what is added before what was there", async () => {
    const directory = new Directory(await storeOf([nameKey("one")]));
    expect(await directory.named(whose, "one")).toBe("s-0");
    directory.add(identity(nameKey("one")), sessionId("new"));
    expect(await directory.named(whose, "one")).toBe("new");
    directory.call(whose, sessionId("s-0"), "two");
    expect([await directory.named(whose, "two"), directory.talkName(sessionId("s-0"))]).toEqual([
      "s-0",
      "two",
    ]);
  });

  it("finds a new session by its name before all old ones were read", async () => {
    const store = await storeOf(Array.from({ length: 200 }, (_, at) => nameKey(`n-${at}`)));
    const read: SessionId[] = [];
    const frames: Store["frames"] = (range) => {
      read.push(range.session);
      return store.frames(range);
    };
    const directory = new Directory({ ...store, frames });
    expect(await directory.named(whose, "n-199")).toBe("s-199");
    expect(read.length).toBeLessThan(200);
    expect(await directory.named(whose, "n-0")).toBe("s-0");
    expect(new Set(read).size).toBe(200);
  });

  it("reads again where the store could not be read", async () => {
    const store = await storeOf([nameKey("one")]);
    let isBroken = true;
    const sessions: Store["sessions"] = () =>
      isBroken ? Promise.resolve(fail("AP_STORE_IO", { problem: "gone" })) : store.sessions();
    const directory = new Directory({ ...store, sessions });
    expect(await directory.named(whose, "one")).toBe(null);
    isBroken = false;
    expect(await directory.named(whose, "one")).toBe("s-0");
  });
});
