export { AnswerReader, endsWithStop, readWireAnswer } from "./anthropic/answer.ts";
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
export { noAnswerText } from "./anthropic/hide-calls.ts";
export {
  answerTokensLeft,
  answerTokensMax,
  readWireRequest,
  sharedMessageCount,
} from "./anthropic/ingest.ts";
export { interceptAnswer } from "./anthropic/intercept.ts";
export type { InterceptOptions, Interceptor } from "./anthropic/interceptor.ts";
export { clearAtBeta, type ModelTraits, modelTraits } from "./anthropic/models.ts";
export {
  type ErrorInput,
  encodeEvent,
  errorBody,
  errorEvent,
  pingEvent,
  refusalEvent,
  threadProblem,
  threadRefusal,
} from "./anthropic/refusals.ts";
export { prependToResult } from "./anthropic/result-text.ts";
export { type ReadableUnit, readableUnit, replaceContent, type UnitReplacement } from "./anthropic/reword.ts";
export { unitBytes, unitOfResult, unitText } from "./anthropic/units.ts";
export type { AnswerUnit, WireAnswer, WireGroup, WireRequest, WireUnit } from "./wire.ts";
