export { AssertionFault, assert, must, unreachable } from "./assert.ts";
export { canonicalJson, type Json } from "./canonical-json.ts";
export type { Clock } from "./clock.ts";
export { cutText } from "./cut-text.ts";
export { sameData } from "./equal.ts";
export { type ApertureError, apertureError, type ErrorCode, type ErrorDetails } from "./errors.ts";
export { sha256Hex } from "./hash.ts";
export {
  type BlockId,
  blockId,
  type ContentHash,
  contentHash,
  type FrameHash,
  frameHash,
  GENESIS_HASH,
  hashContent,
  isCount,
  isHash,
  isSessionId,
  type MessageId,
  messageId,
  type Seq,
  type SessionId,
  type StepId,
  type StreamId,
  seqOf,
  sessionId,
  sessionIdFrom,
  stepId,
  streamId,
  type Turn,
  turnOf,
  type UnitId,
  unitId,
  type ViewId,
  viewId,
} from "./ids.ts";
export { limits } from "./limits.ts";
export { lastIndexUpTo, PagedTable, pageEntries, TablePage } from "./paged-table.ts";
export { type Random, seededRandom } from "./random.ts";
export { type Fail, fail, ok, type Result, unwrap } from "./result.ts";
export { secretPatterns } from "./secret-patterns.ts";
export { transferableBuffers } from "./transferable-buffers.ts";
