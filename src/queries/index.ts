export { queryTable } from "./answer-query.ts";
export { isPendingRewrite } from "./block-levels.ts";
export { chooseStream, streamModeOf } from "./choose-stream.ts";
export { blocksAfterReasoning } from "./expansion.ts";
export { unknownBlocksError } from "./find-block.ts";
export { maskNonce, shortNonce } from "./masked-nonce.ts";
export { type ManifestDeps, nextManifestIn } from "./next-manifest.ts";
export {
  type DiffQuery,
  type ExpansionQuery,
  lastSession,
  type Query,
  type QueryAnswers,
  type QueryDeps,
} from "./queries.ts";
export { selectionAnswer } from "./selection-answer.ts";
export { sessionName, singleLine } from "./session-name.ts";
export { openSessionState } from "./sessions.ts";
export { fitShare } from "./state-row.ts";
export { listSteps, stepRows, stepsPage } from "./steps.ts";
