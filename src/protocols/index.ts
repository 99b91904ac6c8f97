export { AnswerReader } from "./anthropic/answer.ts";
export type {
  BodyFeature,
  BodyParts,
  ContextEdit,
  EmittedPieces,
  ErrorInput,
  InterceptOptions,
  Interceptor,
  ModelTraits,
  PlacedMark,
  Protocol,
  RequestKind,
  Tolerance,
  ToolUse,
  UnitReplacement,
} from "./protocol.ts";
export {
  contentText,
  findProtocol,
  protocolOf,
  readEditable,
  readPart,
  readStoredRequest,
  replaceStored,
  wireTypeOf,
} from "./registry.ts";
export {
  type AnswerUnit,
  sharedMessageCount,
  type UnitWrapper,
  unitBytes,
  type WireAnswer,
  type WireGroup,
  type WireRequest,
  type WireUnit,
} from "./wire.ts";
