export { stepBack } from "./background.ts";
export { commonPrefixLength } from "./common-bytes.ts";
export { type FailPoint, type FailPointName, failPointNames } from "./fail-points.ts";
export { type MemoryStoreOptions, openMemoryStore } from "./memory-store.ts";
export type { StoreLine } from "./messages.ts";
export { storeFormat } from "./migrations.ts";
export { diffRecipe, type RecipeDiff, type Slice } from "./recipe-diff.ts";
export {
  joinSqliteStore,
  openSqliteStore,
  type SqliteStore,
  type SqliteStoreOptions,
  type SqliteThread,
  startSqliteThread,
} from "./sqlite-store.ts";
export {
  type Appended,
  type BackupReport,
  type Batch,
  type Body,
  type BodyKey,
  type BodyRow,
  type Content,
  type Damage,
  type DropReport,
  type FrameRange,
  type GcReport,
  type Piece,
  type PurgeReport,
  type SessionHead,
  type Side,
  type Snapshot,
  type Store,
  type StoreStatus,
  sides,
  type VerifyReport,
} from "./store.ts";
