import type { RecordedBlock, RecordedMessage, RecordedTurn, RecordedUsage } from "./session-recording.ts";

export const transcriptClients = ["claude-code", "codex", "gemini-cli"] as const;
export type TranscriptClient = (typeof transcriptClients)[number];

/** The text of a file. Its name is shown to people, and names the session or agent of some clients. */
export type TranscriptText = { readonly name: string; readonly text: string };

/** The readable content of one file. */
export type Transcript = {
  readonly client: TranscriptClient;
  /** The client's id of the session. */
  readonly session: string;
  /** The session that started this one as an agent. Null if it is no agent. */
  readonly parent: string | null;
  /** The folder the client worked in. */
  readonly project: string | null;
  readonly system: string | null;
  readonly streams: readonly TranscriptStream[];
  readonly problems: readonly TranscriptProblem[];
};

/** A conversation in a file. The main one has no name. */
export type TranscriptStream = {
  readonly name: string | null;
  readonly requests: () => Iterable<ReadExchange>;
};

/** One request with all messages that the client wrote down, and its answer. */
export type ReadExchange = {
  /** Equal in all copies that the client makes. */
  readonly id: string;
  readonly messages: readonly RecordedMessage[];
  readonly answer: RecordedMessage;
  readonly model: string | null;
  readonly time: string | null;
  readonly usage: RecordedUsage | null;
};

/** Something that could not be read or had to be guessed, with its count. */
export type TranscriptProblem = {
  readonly file: string;
  readonly problem: string;
  readonly count: number;
  /** The first line with the problem, from 1. Null if the problem is not about a line. */
  readonly line: number | null;
};

/** Collects the problems of one file, each kind once. */
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

/** The turns of requests that are new; copies of known requests are skipped. */
export function recordedTurns(
  requests: Iterable<ReadExchange>,
  isNew: (id: string) => boolean,
): readonly RecordedTurn[] {
  const turns: RecordedTurn[] = [];
  let before: readonly RecordedMessage[] = [];
  for (const { id, messages, answer, model, time, usage } of requests) {
    if (!isNew(id)) continue;
    const kept = sharedLength(before, messages);
    turns.push({
      ...(kept === before.length ? {} : { k: kept }),
      c: messages.slice(kept),
      a: recordedBlocks(answer),
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

/** Compares by identity: readers return a message that is sent again as the same object. */
function sharedLength(before: readonly RecordedMessage[], now: readonly RecordedMessage[]): number {
  let shared = 0;
  while (shared < before.length && shared < now.length && before[shared] === now[shared]) shared += 1;
  return shared;
}

export function recordedBlocks({ content }: RecordedMessage): readonly RecordedBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Joins consecutive contents of one role into one message; a single text stays as it is. */
export function joinMessage(role: string, contents: readonly RecordedMessage["content"][]): RecordedMessage {
  const [only] = contents;
  if (contents.length === 1 && only !== undefined) return { role, content: only };
  return { role, content: contents.flatMap((content) => recordedBlocks({ role, content })) };
}
