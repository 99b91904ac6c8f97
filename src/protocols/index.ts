export {
  contextEdit,
  contextManagementBeta,
  isEditRefusal,
  type ToolUse,
  takesEdit,
} from "./anthropic/context-edit.ts";
export {
  type EmittedPieces,
  emitBody,
  emitList,
  emitMarked,
  isClearing,
  type MarkAt,
  systemMessage,
  textBlock,
} from "./anthropic/emit.ts";
export { type AnswerReader, answerReader, readAnswer } from "./anthropic/events.ts";
export { answerLeft, answerMax, ingestRequest, sharedMessages } from "./anthropic/ingest.ts";
export { eventInterceptor, type Interceptor, nothingSaid, wireEvent } from "./anthropic/intercept.ts";
export { messageInterceptor } from "./anthropic/intercept-message.ts";
export { clearAtBeta, type ModelTraits, modelTraits } from "./anthropic/models.ts";
export { resultWithText } from "./anthropic/result-text.ts";
export { reworded, type Spoken, spokenIn, type Words } from "./anthropic/reword.ts";
export { eventStripper, messageStripper, type Stripper } from "./anthropic/strip.ts";
export { unitBytes, unitOfResult, unitText, type WrittenResult } from "./anthropic/units.ts";
export type { Range } from "./json-scan.ts";
export { eventBytesMax, eventReader, type WireEvent } from "./sse.ts";
export type { AnswerUnit, UnitPlace, WireAnswer, WireGroup, WireRequest, WireUnit } from "./wire.ts";
