export { type AnswerReader, answerReader, readWireAnswer } from "./anthropic/events.ts";
export { encodeEvent, eventInterceptor, type Interceptor, noAnswerText } from "./anthropic/intercept.ts";
export { messageInterceptor } from "./anthropic/intercept-message.ts";
export { eventStripper, messageStripper, type Stripper } from "./anthropic/strip.ts";
export type {
  BodyFeature,
  BodyFieldUse,
  BodyParts,
  ContextEdit,
  EmittedPieces,
  ModelTraits,
  PlacedMark,
  Protocol,
  RequestKind,
  Tolerance,
  ToolUse,
  UnitReplacement,
} from "./protocol.ts";
export {
  contentStretches,
  contentText,
  findProtocol,
  formOf,
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
