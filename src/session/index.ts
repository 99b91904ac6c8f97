export type { SessionPlace } from "./load.ts";
export type { Attached } from "./outbox.ts";
export {
  type Entry,
  openSession,
  type Recorded,
  type SessionLog,
  snapshotEveryFrames,
} from "./session-log.ts";
