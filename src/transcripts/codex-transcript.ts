import {
  ProblemList,
  type ReadExchange,
  recordedBlocks,
  type Transcript,
  type TranscriptText,
} from "./client-transcript.ts";
import { isIgnoredItem, readCodexItem } from "./codex-item.ts";
import { type JsonLine, readJsonLines } from "./json-lines.ts";
import type { RecordedBlock, RecordedMessage, RecordedUsage } from "./session-recording.ts";
import { countOf, stringOf, type TranscriptFields, transcriptFields } from "./transcript-values.ts";

/**
 * Reads a file of Codex: the items of one thread in order, and events beside them. An answer is all that the
 * model said until the next item of the client; its usage follows right after it.
 */
export function readCodex({ name, text }: TranscriptText): Transcript | null {
  const problems = new ProblemList(name);
  const lines = readJsonLines(text, problems);
  const meta = lines.map(({ fields }) => codexMeta(fields)).find((found) => found !== null);
  if (meta === undefined || meta === null) return null;
  const thread = new CodexThread(problems);
  for (const line of lines) thread.addLine(line);
  thread.finish();
  const { requests } = thread;
  const streams = [{ name: null, requests: () => requests }];
  return { client: "codex", ...meta, streams, problems: problems.list };
}

type CodexMeta = Pick<Transcript, "session" | "parent" | "project" | "system">;

/** Reads the first line of a file; the oldest files have it without a wrapper. */
export function codexMeta(fields: TranscriptFields): CodexMeta | null {
  const isWrapped = fields["type"] === "session_meta";
  const meta = isWrapped ? transcriptFields(fields["payload"]) : fields;
  const session = stringOf(meta["id"]);
  if (session === null || (!isWrapped && stringOf(meta["timestamp"]) === null)) return null;
  const system =
    stringOf(transcriptFields(meta["base_instructions"])["text"]) ?? stringOf(meta["instructions"]);
  return { session, parent: parentOf(meta), project: stringOf(meta["cwd"]), system };
}

function parentOf(meta: TranscriptFields): string | null {
  const spawn = transcriptFields(
    transcriptFields(transcriptFields(meta["source"])["subagent"])["thread_spawn"],
  );
  return stringOf(spawn["parent_thread_id"]) ?? stringOf(meta["parent_thread_id"]);
}

class CodexThread {
  readonly requests: ReadExchange[] = [];
  readonly #problems: ProblemList;
  #history: RecordedMessage[] = [];
  #clientBlocks: RecordedBlock[] = [];
  #answerBlocks: RecordedBlock[] = [];
  #time: string | null = null;
  #modelName: string | null = null;
  #usage: RecordedUsage | null = null;
  #lastTotal = "";

  constructor(problems: ProblemList) {
    this.#problems = problems;
  }

  addLine({ fields, line }: JsonLine): void {
    const type = stringOf(fields["type"]) ?? "";
    const payload = transcriptFields(fields["payload"]);
    const time = stringOf(fields["timestamp"]);
    switch (type) {
      case "session_meta":
        return;
      case "turn_context":
        this.#modelName = stringOf(payload["model"]) ?? this.#modelName;
        return;
      case "response_item":
        this.#addItem(payload, { time, line });
        return;
      case "compacted":
        this.#compact(payload);
        return;
      case "event_msg":
        this.#readEvent(payload);
        return;
      default:
        // The oldest files have their items without a wrapper.
        if (fields["payload"] === undefined && type !== "") this.#addItem(fields, { time, line });
        else if (type !== "")
          this.#problems.add(`lines of a kind nobody knows: ${JSON.stringify(type.slice(0, 40))}`, line);
    }
  }

  finish(): void {
    this.#endAnswer();
  }

  #addItem(
    fields: TranscriptFields,
    { time, line }: { readonly time: string | null; readonly line: number },
  ): void {
    const item = readCodexItem(fields);
    if (item === null) {
      const type = stringOf(fields["type"]) ?? "";
      if (!isIgnoredItem(fields)) this.#problems.add(`items nobody knows: ${JSON.stringify(type)}`, line);
      return;
    }
    if (item.side === "client") {
      this.#endAnswer();
      this.#clientBlocks.push(...item.blocks);
      return;
    }
    if (this.#answerBlocks.length === 0) this.#time = time;
    this.#answerBlocks.push(...item.blocks);
  }

  /** Ends the answer and adds its request. */
  #endAnswer(): void {
    if (this.#answerBlocks.length === 0) return;
    this.#addClientMessage();
    const answer = { role: "assistant", content: this.#answerBlocks };
    const messages = [...this.#history];
    const [model, time, usage] = [this.#modelName, this.#time, this.#usage];
    if (messages.length === 0) this.#problems.add("answers to nothing that was written down");
    else this.requests.push({ id: idOf(answer, time), messages, answer, model, time, usage });
    this.#history.push(answer);
    this.#answerBlocks = [];
    this.#usage = null;
  }

  /** Joins all blocks of the client since the last answer into one message. */
  #addClientMessage(): void {
    if (this.#clientBlocks.length > 0) this.#history.push({ role: "user", content: this.#clientBlocks });
    this.#clientBlocks = [];
  }

  #readEvent(payload: TranscriptFields): void {
    if (payload["type"] === "token_count") this.#readUsage(transcriptFields(payload["info"]));
    if (payload["type"] === "thread_rolled_back") this.#rollBack(countOf(payload["num_turns"]));
  }

  /** Usage is reported repeatedly; only a new total belongs to a new answer. */
  #readUsage({ last_token_usage: last, total_token_usage: total }: TranscriptFields): void {
    const newTotal = JSON.stringify(total);
    if (last === undefined || last === null || newTotal === this.#lastTotal) return;
    this.#lastTotal = newTotal;
    const usage = transcriptFields(last);
    const cached = countOf(usage["cached_input_tokens"]);
    const fresh = Math.max(0, countOf(usage["input_tokens"]) - cached);
    this.#usage = { in: fresh, cr: cached, cw: 0, out: countOf(usage["output_tokens"]) };
  }

  #compact(payload: TranscriptFields): void {
    this.#endAnswer();
    const kept = payload["replacement_history"];
    this.#clientBlocks = [];
    if (Array.isArray(kept)) {
      this.#history = historyOf(kept);
      return;
    }
    this.#problems.add(
      "compactions that do not say what they left: taken for the user's words and a summary",
    );
    const userBlocks = this.#history.filter(({ role }) => role === "user").flatMap(recordedBlocks);
    const summary = { type: "text", text: stringOf(payload["message"]) ?? "" };
    const content = [...userBlocks.filter(({ type }) => type === "text"), summary];
    this.#history = [{ role: "user", content }];
  }

  #rollBack(turns: number): void {
    this.#endAnswer();
    this.#clientBlocks = [];
    const prompts = this.#history.flatMap((message, at) => (isPrompt(message) ? [at] : []));
    const cut = turns === 0 ? undefined : prompts.at(-turns);
    this.#history = this.#history.slice(0, cut ?? (turns === 0 ? undefined : 0));
  }
}

function isPrompt(message: RecordedMessage): boolean {
  return message.role === "user" && recordedBlocks(message).some(({ type }) => type === "text");
}

/**
 * An id that is equal in a forked thread, which copies items: the id of a call, or the time and text of an
 * answer.
 */
function idOf(answer: RecordedMessage, time: string | null): string {
  const call = recordedBlocks(answer).find(({ type }) => type === "tool_use");
  const named = call === undefined ? null : stringOf(call["id"]);
  return named === null || named === "" ? `${time} ${JSON.stringify(answer.content).slice(0, 200)}` : named;
}

function historyOf(items: readonly unknown[]): RecordedMessage[] {
  const read = items.map((item) => readCodexItem(transcriptFields(item))).filter((item) => item !== null);
  const messages: { role: string; content: RecordedBlock[] }[] = [];
  for (const { side, blocks } of read) {
    const role = side === "model" ? "assistant" : "user";
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
  }
  return messages;
}

/** True if a first line is from this client. */
export function isCodex(fields: TranscriptFields): boolean {
  if (fields["type"] === "session_meta") return true;
  return stringOf(fields["id"]) !== null && fields["timestamp"] !== undefined && "instructions" in fields;
}
