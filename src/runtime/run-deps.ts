import type { Clock, StreamId } from "../base/index.ts";
import type { View } from "../engine/index.ts";
import type { Agent } from "./agent.ts";
import type { BlockIndex } from "./block-index.ts";
import type { SpaceEvent } from "./space-events.ts";
import type { RecentFrames, SpaceLog } from "./space-log.ts";
import type { ViewCache } from "./view-cache.ts";

/** Shared by all runs of a space. */
export type RunDeps = {
  readonly log: SpaceLog;
  readonly index: BlockIndex;
  readonly recentFrames: RecentFrames;
  readonly clock: Clock;
  readonly nonceOf: (view: View) => string;
  readonly streamName: (stream: StreamId) => string;
  readonly emit: (event: SpaceEvent) => void;
};

/** An agent that answers its activations in a stream. */
export type AgentRun = {
  readonly agent: Agent;
  readonly cache: ViewCache;
  /** Aborts when the run shall stop. */
  readonly signal: AbortSignal;
  /** True if the space was closed: the run continues when it is opened again, so its end is not recorded. */
  readonly isSuspended: () => boolean;
};
