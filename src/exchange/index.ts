export type { CommandBatch, CommandCall, CommandResult } from "./command-batch.ts";
export { decodeBody, type Pieces } from "./decode-body.ts";
export {
  asBuffer,
  type Caller,
  joinedCopy,
  type ProtocolName,
  type RelayOutcome,
  type RequestCopy,
  type ResponseCopy,
} from "./exchange-copies.ts";
export { identify, isAgentClient, type RequestIdentity, streamKeyOf, withSessionHint } from "./identify.ts";
export { nodeId, nodeKey } from "./node-id.ts";
export type { BlockNumbers, KnownBlock, NumberedBlock } from "./numbered-block.ts";
export type {
  OwnLineFilter,
  PlannedRequest,
  Planner,
  ReadRequest,
  RequestMeta,
  ResponseSummary,
} from "./planner.ts";
export { type Purpose, purposeOf } from "./purpose.ts";
export { type BodyOverlap, noOverlap, type RecorderPort } from "./recorder-port.ts";
export type { SentEpoch, SentRequest, SentRequestUnit, UnitAlias } from "./sent-request.ts";
export type { StreamLookup, StreamRecord, TurnRecord, UnitRecord } from "./stream-lookup.ts";
export {
  type LevelWish,
  placeholderTokens,
  type Wishes,
  type WithheldSession,
  type WithheldUnit,
} from "./stream-wishes.ts";
export { fingerprintOf, removeFingerprinted, type TextFingerprint } from "./text-fingerprint.ts";
