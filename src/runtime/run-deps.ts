import type { Clock, StreamId } from "../base/index.ts";
import type { View } from "../engine/index.ts";
import type { Agent } from "./agent.ts";
import type { AgentStream } from "./agent-stream.ts";
import type { BlockIndex } from "./block-index.ts";
import type { SpaceEvent } from "./space-events.ts";
import type { SpaceLog } from "./space-log.ts";

/** Shared by all runs of a space. */
export type RunDeps = {
  readonly log: SpaceLog;
  readonly index: BlockIndex;
  readonly clock: Clock;
  readonly nonceOf: (view: View) => string;
  readonly streamName: (stream: StreamId) => string;
  readonly emit: (event: SpaceEvent) => void;
};

/** An agent that answers its activations in a stream. */
export type AgentRun = {
  readonly agent: Agent;
  readonly agentStream: AgentStream;
  /** Aborts when the run shall stop. */
  readonly signal: AbortSignal;
  /** True if the space was closed: the run continues when it is opened again, so its end is not recorded. */
  readonly isSuspended: () => boolean;
};
