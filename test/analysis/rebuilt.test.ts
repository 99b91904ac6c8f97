// Recorded sessions that are written as transcripts of their clients are read back unchanged.
import { describe, expect, test } from "vitest";
import { type TranscriptClient, transcriptClients } from "../../src/transcripts/client-transcript.ts";
import {
  type Recording,
  readTranscript,
  recordedClient,
  SessionGatherer,
} from "../../src/transcripts/index.ts";
import { hasLargeSet, readRecording, recordingNames } from "../support/recordings.ts";
import { transcriptFiles } from "../support/transcript-files.ts";

function writeAndRead(recording: Recording, client: TranscriptClient) {
  const read = transcriptFiles(recording, client).flatMap((file) => readTranscript(file) ?? []);
  expect(read.flatMap(({ problems }) => problems)).toEqual([]);
  return new SessionGatherer().gather(read);
}

const isClient = (name: string): name is TranscriptClient =>
  (transcriptClients as readonly string[]).includes(name);

/** Recordings of clients whose transcripts can be read. */
const readable = recordingNames().flatMap((name) => {
  const client = recordedClient(readRecording(name));
  return isClient(client) ? [[name, client] as const] : [];
});

test("there are recordings of every client whose transcripts are read", (context) => {
  if (!hasLargeSet) context.skip("needs the large set of recordings; see docs/reference/recordings.md");
  expect(new Set(readable.map(([, client]) => client))).toEqual(new Set(transcriptClients));
});

describe.each(readable)("%s", (name, client) => {
  test("has the same turns after it was written and read back", () => {
    const recording = readRecording(name);
    const gathered = writeAndRead(recording, client);
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

/** The stop reason is not read, because nothing needs it. */
function withoutStop({ m, ...turn }: Recording["turns"][number]) {
  const { stop: _, ...kept } = (m ?? {}) as Readonly<Record<string, unknown>>;
  return { ...turn, m: kept };
}
