export { commonPrefixLength } from "./common-bytes.ts";
export { openMemoryStore } from "./memory-store.ts";
export { type ContentSlice, diffRecipe } from "./recipe-diff.ts";
export { joinSqliteStore, openSqliteStore, type SqliteThread, startSqliteThread } from "./sqlite-store.ts";
export type {
  AppendResult,
  BackupReport,
  Batch,
  Body,
  BodyRow,
  DropReport,
  ExchangeSide,
  GcReport,
  HashedContent,
  PurgeReport,
  RecipePiece,
  SessionHead,
  Snapshot,
  Store,
  StoreStatus,
  VerifyReport,
} from "./store.ts";
export type { StorePort } from "./store-messages.ts";
export { lowerThreadPriority } from "./thread-priority.ts";
