import type { RecordedTurn, WireBlock, WireMessage, WireUsage } from "./recording.ts";

export const transcriptClients = ["claude-code", "codex", "gemini-cli"] as const;
export type TranscriptClient = (typeof transcriptClients)[number];

/** A file as it was found. The name is only for telling people about it, and for agents that go by it. */
export type TranscriptFile = { readonly name: string; readonly text: string };

/** What one file holds, read as far as it can be. */
export type Transcript = {
  readonly client: TranscriptClient;
  /** What the client calls the session. */
  readonly session: string;
  /** The session that started this one as an agent; null: nobody did. */
  readonly parent: string | null;
  /** The folder it worked in. */
  readonly project: string | null;
  readonly system: string | null;
  readonly streams: readonly ReadStream[];
  readonly problems: readonly TranscriptProblem[];
};

/** A line of talk in a file. The main one has no name. */
export type ReadStream = { readonly name: string | null; readonly requests: () => Iterable<ReadRequest> };

/** One request with all that was sent, as far as the client wrote it down, and its answer. */
export type ReadRequest = {
  /** The same wherever the client has copied it to. */
  readonly id: string;
  readonly messages: readonly WireMessage[];
  readonly answer: WireMessage;
  readonly model: string | null;
  readonly time: string | null;
  readonly usage: WireUsage | null;
};

/** Something that could not be read or had to be guessed, and how often. */
export type TranscriptProblem = {
  readonly file: string;
  readonly problem: string;
  readonly count: number;
  /** The first line it was seen in, from 1; null: it is not about a line. */
  readonly line: number | null;
};

/** Collects problems of one file, each kind once. */
export class ProblemList {
  readonly #file: string;
  readonly #found = new Map<string, { count: number; line: number | null }>();

  constructor(file: string) {
    this.#file = file;
  }

  add(problem: string, line: number | null = null): void {
    const known = this.#found.get(problem);
    this.#found.set(problem, { count: (known?.count ?? 0) + 1, line: known?.line ?? line });
  }

  get list(): readonly TranscriptProblem[] {
    return [...this.#found].map(([problem, { count, line }]) => ({ file: this.#file, problem, count, line }));
  }
}

/** Requests that were counted elsewhere stay what they are to the next one: its history. */
export function turnsOf(
  requests: Iterable<ReadRequest>,
  isNew: (id: string) => boolean,
): readonly RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  let before: readonly WireMessage[] = [];
  for (const { id, messages, answer, model, time, usage } of requests) {
    if (!isNew(id)) continue;
    const kept = sharedLength(before, messages);
    turns.push({
      ...(kept === before.length ? {} : { k: kept }),
      c: messages.slice(kept),
      a: blocksOf(answer),
      m: {
        id,
        ...(model === null ? {} : { model }),
        ...(time === null ? {} : { t: time }),
        ...(usage === null ? {} : { usage }),
      },
    });
    before = [...messages, answer];
  }
  return turns;
}

/** Readers give the same message as the same object. */
function sharedLength(before: readonly WireMessage[], now: readonly WireMessage[]): number {
  let shared = 0;
  while (shared < before.length && shared < now.length && before[shared] === now[shared]) shared += 1;
  return shared;
}

export function blocksOf({ content }: WireMessage): readonly WireBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** What one side says without the other in between is one message; a lone text stays as it is. */
export function joinedMessage(role: string, contents: readonly WireMessage["content"][]): WireMessage {
  const [only] = contents;
  if (contents.length === 1 && only !== undefined) return { role, content: only };
  return { role, content: contents.flatMap((content) => blocksOf({ role, content })) };
}
