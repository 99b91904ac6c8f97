export {
  type Attached,
  type Entry,
  openSession,
  type Recorded,
  type SessionLog,
  type SessionPlace,
  snapshotEveryFrames,
} from "./session-log.ts";
