export type { Transcript, TranscriptProblem } from "./client-transcript.ts";
export { peekTranscript, type TranscriptIdentity } from "./peek-transcript.ts";
export { readTranscript } from "./read-transcript.ts";
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
