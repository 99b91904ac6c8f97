import { describe, expect, it } from "vitest";
import { fail, type SessionId, sessionId, unwrap } from "../base/index.ts";
import type { SessionIdentity } from "../engine/frames/index.ts";
import { openMemoryStore, type Store } from "../store/index.ts";
import { SessionDirectory } from "./session-directory.ts";
import { credentialKey, nameKey, sessionKeyOf, startKey } from "./session-key.ts";
import { openSession } from "./session-log.ts";

const owner = { owner: "local", upstream: "anthropic", client: "unknown" };
const start = startKey("c1", "user:1");

function identity(key: string): SessionIdentity {
  return { ...owner, key, project: null };
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

function keyOfConversation(generatedName: string | null): string {
  return sessionKeyOf({
    credential: "c1",
    protocol: "anthropic",
    sessionKey: null,
    generatedName,
    first: "user:1",
  });
}

describe("a directory", () => {
  it("finds a conversation by start, name and credential, newest first", async () => {
    const directory = new SessionDirectory(
      await storeOf([keyOfConversation(null), keyOfConversation("t-1"), keyOfConversation("t-2")]),
    );
    expect(await directory.findByKey(owner, start)).toEqual(["s-2", "s-1", "s-0"]);
    expect(await directory.findByKey(owner, credentialKey("c1"))).toEqual(["s-2", "s-1", "s-0"]);
    expect(await directory.findByName(owner, "t-1")).toBe("s-1");
    expect(directory.generatedName(sessionId("s-2"))).toBe("t-2");
    expect(await directory.findByName({ ...owner, owner: "other" }, "t-1")).toBe(null);
  });

  it("puts an added session before the older ones", async () => {
    const directory = new SessionDirectory(await storeOf([nameKey("one")]));
    expect(await directory.findByName(owner, "one")).toBe("s-0");
    directory.add(identity(nameKey("one")), sessionId("new"));
    expect(await directory.findByName(owner, "one")).toBe("new");
    directory.setGeneratedName(owner, sessionId("s-0"), "two");
    expect([await directory.findByName(owner, "two"), directory.generatedName(sessionId("s-0"))]).toEqual([
      "s-0",
      "two",
    ]);
  });

  it("finds a recent session by name before all old ones are read", async () => {
    const store = await storeOf(Array.from({ length: 200 }, (_, at) => nameKey(`n-${at}`)));
    const read: SessionId[] = [];
    const frames: Store["frames"] = (range) => {
      read.push(range.session);
      return store.frames(range);
    };
    const directory = new SessionDirectory({ ...store, frames });
    expect(await directory.findByName(owner, "n-199")).toBe("s-199");
    expect(read.length).toBeLessThan(200);
    expect(await directory.findByName(owner, "n-0")).toBe("s-0");
    expect(new Set(read).size).toBe(200);
  });

  it("reads the store again after a failed read", async () => {
    const store = await storeOf([nameKey("one")]);
    let isBroken = true;
    const sessions: Store["sessions"] = () =>
      isBroken ? Promise.resolve(fail("AP_STORE_IO", { problem: "gone" })) : store.sessions();
    const directory = new SessionDirectory({ ...store, sessions });
    expect(await directory.findByName(owner, "one")).toBe(null);
    isBroken = false;
    expect(await directory.findByName(owner, "one")).toBe("s-0");
  });
});
