import { fail, ok } from "../base/index.ts";
import type { State } from "../engine/index.ts";
import { type CommandLog, IdPool } from "../session/index.ts";
import type { SpaceLog } from "./space-log.ts";
import type { ViewMemory } from "./view-memory.ts";

/** Somebody always gets through, unless the log is written to faster than it is read. */
const attemptsMax = 20;

/**
 * Carries out a command, which looks at the log, waits for what it has to read, and then writes. What others
 * have written meanwhile it does not know of: then nothing is written, and it looks again.
 */
export async function inOneGo<T>(
  log: SpaceLog,
  memory: ViewMemory,
  act: (live: CommandLog, attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const { live, stand } = liveLog(log, memory);
    const done = await act(live, attempt);
    if (stand.isRefused) memory.ids = new IdPool(memory.stream);
    if (!stand.isStale || attempt === attemptsMax) return done;
  }
}

function liveLog(log: SpaceLog, { stream }: ViewMemory) {
  const stand = { isStale: false, isRefused: false };
  let seen: State | null = null;
  let hasWritten = false;
  const state = (): State => {
    seen ??= log.state();
    return log.state();
  };
  const live: CommandLog = {
    state,
    carry: ({ deltas, actor, cause, attached }) => {
      if (deltas.length === 0) return ok(undefined);
      stand.isStale = !hasWritten && seen !== null && seen !== log.state();
      const contents = attached?.contents ?? [];
      const appended = stand.isStale
        ? fail("AP_SPACE_BUSY")
        : log.append({ stream, actor, cause, deltas, contents });
      hasWritten ||= appended.ok;
      stand.isRefused ||= !appended.ok;
      return appended.ok ? ok(undefined) : appended;
    },
  };
  return { live, stand };
}
