// Recorded sessions, written as their clients write them, are read as what they were.
import { describe, expect, test } from "vitest";
import {
  agentOf,
  Gatherer,
  type Recording,
  readTranscript,
  type TranscriptClient,
  transcriptClients,
} from "../../src/transcripts/index.ts";
import { hasLargeSet, readRecording, recordingNames } from "../support/recordings.ts";
import { transcriptFiles } from "../support/transcript-files.ts";

function rebuilt(recording: Recording, client: TranscriptClient) {
  const read = transcriptFiles(recording, client).flatMap((file) => readTranscript(file) ?? []);
  expect(read.flatMap(({ problems }) => problems)).toEqual([]);
  return new Gatherer().gather(read);
}

const isClient = (name: string): name is TranscriptClient =>
  (transcriptClients as readonly string[]).includes(name);

/** Recordings of clients whose transcripts are read here; of others there is nothing to write or to read. */
const readable = recordingNames().flatMap((name) => {
  const client = agentOf(readRecording(name));
  return isClient(client) ? [[name, client] as const] : [];
});

test("there are recordings of every client whose transcripts are read", (context) => {
  if (!hasLargeSet) context.skip("needs the large set of recordings; see docs/reference/recordings.md");
  expect(new Set(readable.map(([, client]) => client))).toEqual(new Set(transcriptClients));
});

describe.each(readable)("%s", (name, client) => {
  test("has the same turns after it was written and read", () => {
    const recording = readRecording(name);
    const gathered = rebuilt(recording, client);
    expect(gathered?.client).toBe(client);
    const { id, system, tools, turns, streams } = gathered?.recording ?? ({} as Recording);
    expect({ id, system, tools }).toEqual({
      id: recording.id,
      system: recording.system,
      tools: recording.tools,
    });
    expect(turns?.map(withoutId)).toEqual(recording.turns.map(withoutStop));
    expect((streams ?? []).map((stream) => stream.turns.map(withoutId))).toEqual(
      (recording.streams ?? []).map((stream) => stream.turns.map(withoutStop)),
    );
  });
});

function withoutId({ m, ...turn }: Recording["turns"][number]) {
  const { id: _, ...kept } = m ?? {};
  return { ...turn, m: kept };
}

/** Why a model stopped is not read: nothing asks for it. */
function withoutStop({ m, ...turn }: Recording["turns"][number]) {
  const { stop: _, ...kept } = (m ?? {}) as Readonly<Record<string, unknown>>;
  return { ...turn, m: kept };
}
