export { type GatheredSession, Gatherer } from "./gather.ts";
export { type Peeked, peekTranscript } from "./peek.ts";
export { readTranscript } from "./read.ts";
export {
  agentOf,
  modelOf,
  type RecordedStream,
  type RecordedTurn,
  type Recording,
  streamsOf,
  timeOf,
  type WireBlock,
  type WireMessage,
  type WireUsage,
} from "./recording.ts";
export {
  type Transcript,
  type TranscriptClient,
  type TranscriptFile,
  type TranscriptProblem,
  transcriptClients,
} from "./transcript.ts";
