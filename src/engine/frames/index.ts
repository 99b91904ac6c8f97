export { type BlockSpan, type Mode, modes, type Permission, permissionRules } from "./approval.ts";
export {
  type AddedBlock,
  type Block,
  type BlockAttributes,
  type BlockKind,
  blockKinds,
  type Level,
  levels,
  type NextIds,
  type Rendition,
  type Shown,
  type Taint,
  type Tokens,
  type Ttl,
} from "./block.ts";
export {
  type Delta,
  deltaContents,
  type FactDelta,
  type PredictedBill,
  type RewriteReason,
  rewriteReasonTexts,
  type TurnOutcome,
  type Unit,
  type UnitOrigin,
} from "./delta.ts";
export type {
  BodyForm,
  ContentForm,
  Exchange,
  ExchangeEnd,
  ProtocolName,
  RecordedExchange,
  SessionIdentity,
  Usage,
} from "./exchange.ts";
export { type Actor, actors, type FactName, type FactValues, factNames } from "./facts.ts";
export {
  type Cause,
  checkSeal,
  type Frame,
  type FrameDraft,
  frameFromText,
  sealedText,
  sealFrame,
} from "./frame.ts";
export { checkDraft, parseFrame } from "./frame-shape.ts";
