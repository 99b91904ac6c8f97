import { type ClaudeLine, readClaudeLine } from "./claude-code-line.ts";
import {
  joinMessage,
  ProblemList,
  type ReadExchange,
  recordedBlocks,
  type Transcript,
  type TranscriptStream,
  type TranscriptText,
} from "./client-transcript.ts";
import { readJsonLines } from "./json-lines.ts";
import type { RecordedMessage } from "./session-recording.ts";
import { stringOf } from "./transcript-values.ts";

/**
 * Reads a file of Claude Code: one line for each message of the user, each result and each block of an
 * answer. A line names the one before it, so a file is a tree: going back to an earlier prompt starts a
 * branch, a compaction starts a new root, and agents have roots or files of their own.
 */
export function readClaudeCode({ name, text }: TranscriptText): Transcript | null {
  const problems = new ProblemList(name);
  const lines = readJsonLines(text, problems).flatMap((line) => readClaudeLine(line, problems));
  const first = lines.find(({ session }) => session !== null);
  if (first === undefined) return null;
  const session = sessionNamed(name) ?? first.session ?? "";
  const tree = new LineTree(lines, problems);
  const agent = isAgentFile(name) || lines.every(({ isSide }) => isSide) ? agentOf(name, lines) : null;
  const streams = agent === null ? tree.streams() : [tree.streamOf(agent, lines)];
  const project = lines.find((line) => line.project !== null)?.project ?? null;
  const shared = { client: "claude-code", project, system: null, streams } as const;
  const read = { ...shared, session: agent ?? session, parent: agent === null ? null : first.session };
  return { ...read, problems: problems.list };
}

/** The session in the file name. Null if there is none: a copied file may have any name. */
export function sessionNamed(name: string): string | null {
  return /([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\.jsonl$/.exec(name)?.[1] ?? null;
}

export function isAgentFile(name: string): boolean {
  return /(?:^|[/\\])agent-[^/\\]*\.jsonl$/.test(name);
}

/** The agent of a file that holds only one agent. */
function agentOf(name: string, lines: readonly ClaudeLine[]): string {
  return lines.find(({ agent }) => agent !== null)?.agent ?? name;
}

class LineTree {
  readonly #byId = new Map<string, ClaudeLine>();
  readonly #lines: readonly ClaudeLine[];
  /** All lines of an answer, by its id. */
  readonly #answers = new Map<string, ClaudeLine[]>();
  readonly #results = new Map<string, ClaudeLine[]>();
  readonly #messages = new Map<string, RecordedMessage>();

  constructor(lines: readonly ClaudeLine[], problems: ProblemList) {
    // Copies of a line within a file count once.
    const seen = new Set<string>();
    this.#lines = lines.filter(({ id }) => !seen.has(id) && seen.add(id));
    for (const line of this.#lines) {
      this.#byId.set(line.id, line);
      if (line.answer !== null) addTo(this.#answers, line.answer, line);
      for (const call of line.results) addTo(this.#results, call, line);
    }
    const lost = this.#lines.filter(({ parent }) => parent !== null && !this.#byId.has(parent));
    for (const { line } of lost) problems.add("lines that go on from one that is not there", line);
  }

  streams(): readonly TranscriptStream[] {
    const main = this.#lines.filter(({ isSide }) => !isSide);
    const sides = new Map<string, ClaudeLine[]>();
    for (const line of this.#lines) if (line.isSide) addTo(sides, line.agent ?? this.#root(line).id, line);
    const named = [...sides].map(([name, lines]) => this.streamOf(name, lines));
    return [this.streamOf(null, main), ...named];
  }

  streamOf(name: string | null, lines: readonly ClaudeLine[]): TranscriptStream {
    const heads = [...new Set(lines.flatMap(({ answer }) => answer ?? []))];
    return { name, requests: () => this.#requests(heads) };
  }

  *#requests(answers: readonly string[]): Generator<ReadExchange> {
    for (const id of answers) {
      const lines = this.#answers.get(id) ?? [];
      const [first] = lines;
      const answer = this.#answerMessage(id);
      if (first === undefined || recordedBlocks(answer).length === 0) continue;
      const messages = this.#history(first);
      if (messages.length === 0) continue;
      const usage = lines.findLast((line) => line.usage !== null)?.usage ?? null;
      yield { id, messages, answer, model: first.model, time: first.time, usage };
    }
  }

  /** All lines above a line, as messages. */
  #history(of: ClaudeLine): readonly RecordedMessage[] {
    const messages: RecordedMessage[] = [];
    const userLines: ClaudeLine[] = [];
    const addedAnswers = new Set<string>();
    const addUserMessage = (): void => {
      if (userLines.length > 0) messages.push(this.#userMessage(userLines));
      userLines.length = 0;
    };
    for (const line of this.#above(of)) {
      if (line.answer === null) {
        if (line.content !== null && !userLines.includes(line)) userLines.push(line);
        continue;
      }
      if (addedAnswers.has(line.answer) || line.answer === of.answer) continue;
      addUserMessage();
      addedAnswers.add(line.answer);
      messages.push(this.#answerMessage(line.answer));
      userLines.push(...this.#resultsOf(line.answer, of));
    }
    addUserMessage();
    return messages;
  }

  /** The lines from the root down to the parent of a line. */
  #above({ parent }: ClaudeLine): readonly ClaudeLine[] {
    const lines: ClaudeLine[] = [];
    const seen = new Set<string>();
    for (let id = parent; id !== null && !seen.has(id); ) {
      seen.add(id);
      const line = this.#byId.get(id);
      if (line === undefined) break;
      lines.push(line);
      id = line.parent;
    }
    return lines.reverse();
  }

  /** All results of an answer. Of parallel calls only one result is a parent of the next request. */
  #resultsOf(answer: string, before: ClaudeLine): readonly ClaudeLine[] {
    const calls = (this.#answers.get(answer) ?? []).flatMap((line) => line.calls);
    const found = calls.flatMap((call) => this.#results.get(call)?.slice(-1) ?? []);
    const earlier = new Set(found.filter(({ line }) => line < before.line));
    return [...earlier].sort((a, b) => a.line - b.line);
  }

  #answerMessage(id: string): RecordedMessage {
    const known = this.#messages.get(id);
    if (known !== undefined) return known;
    const contents = (this.#answers.get(id) ?? []).flatMap(({ content }) =>
      content === null ? [] : [content],
    );
    const content = contents.flatMap((one) => recordedBlocks({ role: "assistant", content: one }));
    const message = { role: "assistant", content };
    this.#messages.set(id, message);
    return message;
  }

  #userMessage(lines: readonly ClaudeLine[]): RecordedMessage {
    const key = lines.map(({ id }) => id).join(" ");
    const known = this.#messages.get(key);
    const contents = lines.flatMap(({ content }) => (content === null ? [] : [content]));
    const message = known ?? joinMessage("user", contents);
    this.#messages.set(key, message);
    return message;
  }

  #root(line: ClaudeLine): ClaudeLine {
    return this.#above(line)[0] ?? line;
  }
}

function addTo<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** True if a first line is from this client. */
export function isClaudeCode(fields: Readonly<Record<string, unknown>>): boolean {
  const isNamed = stringOf(fields["sessionId"]) !== null && fields["projectHash"] === undefined;
  return isNamed || (stringOf(fields["leafUuid"]) !== null && fields["type"] === "summary");
}
