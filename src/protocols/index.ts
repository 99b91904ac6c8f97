export {
  contextEdit,
  contextManagementBeta,
  isEditRefusal,
  mayAddEdit,
  type ToolUse,
} from "./anthropic/context-edit.ts";
export {
  emitBody,
  emitList,
  emitMarked,
  isSelfClearing,
  type PlacedMark,
  systemMessage,
  textBlock,
} from "./anthropic/emit.ts";
export { type AnswerReader, answerReader, readWireAnswer } from "./anthropic/events.ts";
export {
  answerTokensLeft,
  answerTokensMax,
  readWireRequest,
  sharedMessageCount,
} from "./anthropic/ingest.ts";
export { encodeEvent, eventInterceptor, type Interceptor, noAnswerText } from "./anthropic/intercept.ts";
export { messageInterceptor } from "./anthropic/intercept-message.ts";
export { clearAtBeta, type ModelTraits, modelTraits } from "./anthropic/models.ts";
export { prependToResult } from "./anthropic/result-text.ts";
export { type ReadableUnit, readableUnit, replaceContent, type UnitReplacement } from "./anthropic/reword.ts";
export { eventStripper, messageStripper, type Stripper } from "./anthropic/strip.ts";
export { unitBytes, unitOfResult, unitText } from "./anthropic/units.ts";
export type { AnswerUnit, WireAnswer, WireGroup, WireRequest, WireUnit } from "./wire.ts";
