import type { RecordedTurn, Recording } from "./recording.ts";
import { type Transcript, type TranscriptClient, turnsOf } from "./transcript.ts";

/** A session with its agents, put together from the files that hold it. */
export type GatheredSession = {
  readonly client: TranscriptClient;
  readonly project: string | null;
  readonly recording: Recording;
};

/**
 * Files of one session belong together: that of an agent is a stream of the session that started it. A client
 * that goes on in a new file copies what was before; each request counts where it was met first.
 */
export class Gatherer {
  readonly #met = new Set<string>();

  gather(transcripts: readonly Transcript[]): GatheredSession | null {
    const main = transcripts.find(({ parent }) => parent === null) ?? transcripts[0];
    if (main === undefined) return null;
    const ordered = [main, ...transcripts.filter((one) => one !== main)];
    const read = ordered.flatMap((transcript) =>
      transcript.streams.map(({ name, requests }) => ({
        id: name ?? transcript.session,
        turns: turnsOf(requests(), (id) => this.#isNew(`${transcript.client} ${id}`)),
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
    if (this.#met.has(id)) return false;
    this.#met.add(id);
    return true;
  }
}

type Named = { readonly id: string; readonly client: TranscriptClient; readonly system: string | null };
type Stream = { readonly id: string; readonly turns: readonly RecordedTurn[] };

function recordingOf(
  { id, client, system }: Named,
  turns: readonly RecordedTurn[],
  streams: readonly Stream[],
): Recording {
  const calls = turns.flatMap(({ a }) => a).filter(({ type }) => type === "tool_use");
  const tools = [...new Set(calls.flatMap(({ name }) => (typeof name === "string" ? [name] : [])))];
  const models = [...new Set(turns.flatMap(({ m }) => m?.model ?? []))];
  const base = { id, agent: { name: client }, system, tools, models, turns };
  return streams.length === 0 ? base : { ...base, streams };
}
