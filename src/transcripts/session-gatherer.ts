import { recordedTurns, type Transcript, type TranscriptClient } from "./client-transcript.ts";
import type { RecordedTurn, Recording } from "./session-recording.ts";

/** A session with its agents, gathered from its files. */
export type GatheredSession = {
  readonly client: TranscriptClient;
  readonly project: string | null;
  readonly recording: Recording;
};

/**
 * Gathers the files of one session: the file of an agent is a stream of the session that started it. A client
 * that continues in a new file copies the earlier requests; each request counts where it is read first.
 */
export class SessionGatherer {
  readonly #seen = new Set<string>();

  gather(transcripts: readonly Transcript[]): GatheredSession | null {
    const main = transcripts.find(({ parent }) => parent === null) ?? transcripts[0];
    if (main === undefined) return null;
    const ordered = [main, ...transcripts.filter((one) => one !== main)];
    const read = ordered.flatMap((transcript) =>
      transcript.streams.map(({ name, requests }) => ({
        id: name ?? transcript.session,
        turns: recordedTurns(requests(), (id) => this.#isNew(`${transcript.client} ${id}`)),
      })),
    );
    const [first = { id: "", turns: [] }, ...others] = read;
    const streams = others.filter(({ turns }) => turns.length > 0);
    const [head, ...rest] = first.turns.length > 0 ? [first, ...streams] : streams;
    if (head === undefined) return null;
    const { client, project, session, system } = main;
    return { client, project, recording: recordingOf({ id: session, client, system }, head.turns, rest) };
  }

  #isNew(id: string): boolean {
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    return true;
  }
}

type GatheredStream = { readonly id: string; readonly turns: readonly RecordedTurn[] };

function recordingOf(
  {
    id,
    client,
    system,
  }: { readonly id: string; readonly client: TranscriptClient; readonly system: string | null },
  turns: readonly RecordedTurn[],
  streams: readonly GatheredStream[],
): Recording {
  const calls = turns.flatMap(({ a }) => a).filter(({ type }) => type === "tool_use");
  const tools = [...new Set(calls.flatMap(({ name }) => (typeof name === "string" ? [name] : [])))];
  const models = [...new Set(turns.flatMap(({ m }) => m?.model ?? []))];
  const base = { id, agent: { name: client }, system, tools, models, turns };
  return streams.length === 0 ? base : { ...base, streams };
}
