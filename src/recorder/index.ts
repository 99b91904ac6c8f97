export { BodyBufferPool } from "./body-buffer-pool.ts";
export { ContextNames } from "./context-names.ts";
export {
  kindsWithLevels,
  type LevelText,
  levelTextString,
  levelTexts,
  minimalTokensMin,
  readUnmasked,
} from "./level-texts.ts";
export { LiveSession } from "./live-session.ts";
export { plainAnswer } from "./read-copy.ts";
export type { RecordedStream } from "./recorded-stream.ts";
export { type BodySource, type PolicyMode, type RecorderCounts, SessionRecorder } from "./recorder.ts";
export { StreamActions } from "./stream-actions.ts";
export { StreamRecall } from "./stream-recall.ts";
export { type ImportResult, TranscriptImporter } from "./transcript-importer.ts";
export {
  type PolicyWriter,
  type ShownContent,
  type ViewAnswer,
  ViewRecorder,
} from "./view-recorder.ts";
export { lastUsage, type WindowRow, windowRow, windowTokens } from "./window-row.ts";
export { blockCopies } from "./wishes/withheld-content.ts";
