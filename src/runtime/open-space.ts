import { randomBytes } from "node:crypto";
import { type Clock, sessionId, sessionIdFrom } from "../base/index.ts";
import type { Delta } from "../engine/frames/index.ts";
import { openSession } from "../log/index.ts";
import { openMemoryStore, openSqliteStore, type Store } from "../store/index.ts";
import type { Agent } from "./agent.ts";
import { holdableStore } from "./holdable-store.ts";
import { root, Space } from "./space.ts";
import { unwrapOrThrow } from "./space-error.ts";
import { SpaceEvents } from "./space-events.ts";
import { SpaceLog } from "./space-log.ts";

export type SpaceOptions = {
  readonly agents?: readonly Agent[];
  /**
   * File that keeps the log. Without `path` and `store` the log is in memory and is lost with the process.
   */
  readonly path?: string;
  /** An open store that keeps the log, instead of a file. */
  readonly store?: Store;
  /**
   * Name of the session: lower-case letters, digits and dashes. A space that is opened again under its name
   * continues.
   */
  readonly name?: string;
  readonly clock?: Clock;
  /** Maximum number of agents that run at the same time. */
  readonly runsMax?: number;
};

const defaultRunsMax = 8;

/** Opens a space, or reopens one: runs that were going on when it was closed continue. */
export async function createSpace(options: SpaceOptions = {}): Promise<Space> {
  const { path, name, clock = { now: () => Date.now() } } = options;
  const opened = options.store ?? (path === undefined ? openMemoryStore() : openSqliteStore({ path }));
  const store = holdableStore(opened);
  const session = name === undefined ? sessionIdFrom(randomBytes(16)) : sessionId(name);
  const log = unwrapOrThrow(await openSession({ store, session, clock }));
  const events = new SpaceEvents();
  const spaceLog = new SpaceLog(log, store, (frame) => events.emit({ type: "frame", frame }));
  if (log.state().seq === 0)
    unwrapOrThrow(
      spaceLog.append({ stream: null, actor: "client", cause: "session", deltas: openingDeltas() }),
    );
  const space = new Space({
    log: spaceLog,
    events,
    clock,
    ownsStore: options.store === undefined,
    runsMax: options.runsMax ?? defaultRunsMax,
  });
  for (const agent of options.agents ?? []) space.add(agent);
  return space;
}

/** The key is a secret of the log: nonces are derived from it, so that they cannot be guessed. */
function openingDeltas(): readonly Delta[] {
  const key = randomBytes(16).toString("hex");
  const identity = { owner: "runtime", upstream: "runtime", client: "aperture-runtime", key, project: null };
  return [
    { type: "session-identified", identity },
    { type: "stream-opened", stream: root, name: "space", parent: null },
  ];
}
