export type { Transcript, TranscriptProblem } from "./client-transcript.ts";
export { type ClientForm, ClientWriter } from "./client-writer.ts";
export { peekTranscript, type TranscriptIdentity } from "./peek-transcript.ts";
export { readTranscript } from "./read-transcript.ts";
export { answerBody, callBlock, type RecordedAnswer, recordingRoute } from "./recorded-answer.ts";
export { type GatheredSession, SessionGatherer } from "./session-gatherer.ts";
export {
  modelOf,
  type RecordedBlock,
  type RecordedMessage,
  type RecordedTurn,
  type Recording,
  recordedClient,
  recordingStreams,
  turnTime,
} from "./session-recording.ts";
export { transcriptFormats } from "./transcript-formats.ts";
export type { TranscriptFormat, WritableTranscript } from "./written-transcript.ts";
