import { randomBytes } from "node:crypto";
import { type Clock, sessionId, sessionIdFrom } from "../base/index.ts";
import type { Delta } from "../engine/index.ts";
import { openSession } from "../session/index.ts";
import { openMemoryStore, openSqliteStore, type Store } from "../store/index.ts";
import type { Agent } from "./agent.ts";
import { Events } from "./events.ts";
import { heldStore } from "./held-store.ts";
import { News, newsMax } from "./news.ts";
import { root, Space } from "./space.ts";
import { unwrapped } from "./space-error.ts";
import { SpaceLog } from "./space-log.ts";

export type SpaceOptions = {
  readonly agents?: readonly Agent[];
  /**
   * Where the log is kept: a file, or a store that is open. Left out: in memory, and gone with the process.
   */
  readonly path?: string;
  readonly store?: Store;
  /** The name of the session: small letters, digits and dashes. A space that is opened again goes on. */
  readonly name?: string;
  readonly clock?: Clock;
  /** So many agents are at work at once. */
  readonly runsMax?: number;
};

const runsMax = 8;

/** Opens a space, or takes one up again: whatever was going on when it was left goes on. */
export async function createSpace(options: SpaceOptions = {}): Promise<Space> {
  const { path, name, clock = { now: () => Date.now() } } = options;
  const opened = options.store ?? (path === undefined ? openMemoryStore() : openSqliteStore({ path }));
  const store = heldStore(opened);
  const session = name === undefined ? sessionIdFrom(randomBytes(16)) : sessionId(name);
  const log = unwrapped(await openSession({ store, session, clock }));
  const events = new Events();
  const spaceLog = new SpaceLog(log, store, (frame) => events.tell({ type: "frame", frame }));
  if (log.state().seq === 0)
    unwrapped(spaceLog.append({ stream: null, actor: "client", cause: "session", deltas: opening() }));
  const after = Math.max(0, log.state().seq - newsMax);
  const news = new News(unwrapped(await store.frames({ session, after, limit: newsMax })));
  const space = new Space({
    log: spaceLog,
    events,
    news,
    clock,
    ownsStore: options.store === undefined,
    runsMax: options.runsMax ?? runsMax,
  });
  for (const agent of options.agents ?? []) space.add(agent);
  return space;
}

/** The key is a secret of the log: marks that nobody can guess are made of it. */
function opening(): readonly Delta[] {
  const key = randomBytes(16).toString("hex");
  const identity = { owner: "runtime", upstream: "runtime", client: "aperture-runtime", key, project: null };
  return [
    { type: "session-identified", identity },
    { type: "stream-opened", stream: root, name: "space", parent: null },
  ];
}
