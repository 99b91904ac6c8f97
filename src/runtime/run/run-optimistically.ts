import { fail, ok } from "../../base/index.ts";
import type { State } from "../../engine/index.ts";
import type { CommandLog } from "../../execute/index.ts";
import { IdPool } from "../../log/index.ts";
import type { AgentStream } from "../agent-stream.ts";
import type { SpaceLog } from "../space-log.ts";

/** One of several competing commands always succeeds, unless the log is written faster than it is read. */
const attemptsMax = 20;

/**
 * Runs an action that reads the log, waits for contents, and then writes. If the log changed in between, the
 * action does not know those changes: nothing is written, and it runs again.
 */
export async function runOptimistically<T>(
  log: SpaceLog,
  agentStream: AgentStream,
  act: (live: CommandLog, attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const { live, writes } = liveLog(log, agentStream);
    const result = await act(live, attempt);
    if (writes.isRefused) agentStream.ids = new IdPool(agentStream.stream);
    if (!writes.isStale || attempt === attemptsMax) return result;
  }
}

function liveLog(log: SpaceLog, { stream }: AgentStream) {
  const writes = { isStale: false, isRefused: false };
  let seen: State | null = null;
  let hasWritten = false;
  const state = (): State => {
    seen ??= log.state();
    return log.state();
  };
  const live: CommandLog = {
    state,
    append: ({ deltas, actor, cause, attached }) => {
      if (deltas.length === 0) return ok(undefined);
      writes.isStale = !hasWritten && seen !== null && seen !== log.state();
      const contents = attached?.contents ?? [];
      const appended = writes.isStale
        ? fail("AP_SPACE_BUSY")
        : log.append({ stream, actor, cause, deltas, contents });
      hasWritten ||= appended.ok;
      writes.isRefused ||= !appended.ok;
      return appended.ok ? ok(undefined) : appended;
    },
  };
  return { live, writes };
}
