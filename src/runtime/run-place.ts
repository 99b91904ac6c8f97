import type { Clock, StreamId } from "../base/index.ts";
import type { View } from "../engine/index.ts";
import type { Agent } from "./agent.ts";
import type { SpaceEvent } from "./events.ts";
import type { News } from "./news.ts";
import type { SpaceLog } from "./space-log.ts";
import type { Standing } from "./standing.ts";
import type { ViewMemory } from "./view-memory.ts";

/** Where runs take place: one space, whatever agent and stream. */
export type RunPlace = {
  readonly log: SpaceLog;
  readonly standing: Standing;
  readonly news: News;
  readonly clock: Clock;
  readonly nonceOf: (view: View) => string;
  readonly nameOf: (stream: StreamId) => string;
  readonly tell: (event: SpaceEvent) => void;
};

/** An agent at work in a stream, because it was asked. */
export type Run = {
  readonly agent: Agent;
  readonly memory: ViewMemory;
  /** Ends when the run is to end. */
  readonly signal: AbortSignal;
  /** Whether it ends only here: it will be taken up again, so nothing is written down about its end. */
  readonly isLeft: () => boolean;
};
