import { isKnownItem, readItem } from "./codex-item.ts";
import { type JsonLine, jsonLines } from "./json-lines.ts";
import type { WireBlock, WireMessage, WireUsage } from "./recording.ts";
import {
  blocksOf,
  ProblemList,
  type ReadRequest,
  type Transcript,
  type TranscriptFile,
} from "./transcript.ts";
import { countOf, type Fields, fieldsOf, textOf } from "./values.ts";

/**
 * A file of Codex: the items of one thread in the order they came, and notes beside them. An answer is what
 * the model said without the client in between; how much it used is told right after it.
 */
export function readCodex({ name, text }: TranscriptFile): Transcript | null {
  const problems = new ProblemList(name);
  const lines = jsonLines(text, problems);
  const meta = lines.map(({ fields }) => codexMeta(fields)).find((found) => found !== null);
  if (meta === undefined || meta === null) return null;
  const thread = new Thread(problems);
  for (const line of lines) thread.take(line);
  thread.end();
  const { requests } = thread;
  const streams = [{ name: null, requests: () => requests }];
  return { client: "codex", ...meta, streams, problems: problems.list };
}

type CodexMeta = Pick<Transcript, "session" | "parent" | "project" | "system">;

/** What the first line says; the oldest files have it without anything around it. */
export function codexMeta(fields: Fields): CodexMeta | null {
  const isWrapped = fields["type"] === "session_meta";
  const meta = isWrapped ? fieldsOf(fields["payload"]) : fields;
  const session = textOf(meta["id"]);
  if (session === null || (!isWrapped && textOf(meta["timestamp"]) === null)) return null;
  const system = textOf(fieldsOf(meta["base_instructions"])["text"]) ?? textOf(meta["instructions"]);
  return { session, parent: parentOf(meta), project: textOf(meta["cwd"]), system };
}

function parentOf(meta: Fields): string | null {
  const spawn = fieldsOf(fieldsOf(fieldsOf(meta["source"])["subagent"])["thread_spawn"]);
  return textOf(spawn["parent_thread_id"]) ?? textOf(meta["parent_thread_id"]);
}

class Thread {
  readonly requests: ReadRequest[] = [];
  readonly #problems: ProblemList;
  #history: WireMessage[] = [];
  #client: WireBlock[] = [];
  #model: WireBlock[] = [];
  #time: string | null = null;
  #modelName: string | null = null;
  #usage: WireUsage | null = null;
  #spent = "";

  constructor(problems: ProblemList) {
    this.#problems = problems;
  }

  take({ fields, line }: JsonLine): void {
    const type = textOf(fields["type"]) ?? "";
    const payload = fieldsOf(fields["payload"]);
    const time = textOf(fields["timestamp"]);
    switch (type) {
      case "session_meta":
        return;
      case "turn_context":
        this.#modelName = textOf(payload["model"]) ?? this.#modelName;
        return;
      case "response_item":
        this.#item(payload, { time, line });
        return;
      case "compacted":
        this.#compacted(payload);
        return;
      case "event_msg":
        this.#noted(payload);
        return;
      default:
        // The oldest files have their items without anything around them.
        if (fields["payload"] === undefined && type !== "") this.#item(fields, { time, line });
        else if (type !== "")
          this.#problems.add(`lines of a kind nobody knows: ${JSON.stringify(type.slice(0, 40))}`, line);
    }
  }

  end(): void {
    this.#settle();
  }

  #item(fields: Fields, { time, line }: { readonly time: string | null; readonly line: number }): void {
    const item = readItem(fields);
    if (item === null) {
      const type = textOf(fields["type"]) ?? "";
      if (!isKnownItem(fields)) this.#problems.add(`items nobody knows: ${JSON.stringify(type)}`, line);
      return;
    }
    if (item.side === "client") {
      this.#settle();
      this.#client.push(...item.blocks);
      return;
    }
    if (this.#model.length === 0) this.#time = time;
    this.#model.push(...item.blocks);
  }

  /** An answer is over: it was one request. */
  #settle(): void {
    if (this.#model.length === 0) return;
    this.#tell();
    const answer = { role: "assistant", content: this.#model };
    const messages = [...this.#history];
    const [model, time, usage] = [this.#modelName, this.#time, this.#usage];
    if (messages.length === 0) this.#problems.add("answers to nothing that was written down");
    else this.requests.push({ id: idOf(answer, time), messages, answer, model, time, usage });
    this.#history.push(answer);
    this.#model = [];
    this.#usage = null;
  }

  /** What the client has said since is one message. */
  #tell(): void {
    if (this.#client.length > 0) this.#history.push({ role: "user", content: this.#client });
    this.#client = [];
  }

  #noted(payload: Fields): void {
    if (payload["type"] === "token_count") this.#counted(fieldsOf(payload["info"]));
    if (payload["type"] === "thread_rolled_back") this.#rolledBack(countOf(payload["num_turns"]));
  }

  /** The same is told again and again; only a new sum belongs to a new answer. */
  #counted({ last_token_usage: last, total_token_usage: total }: Fields): void {
    const spent = JSON.stringify(total);
    if (last === undefined || last === null || spent === this.#spent) return;
    this.#spent = spent;
    const usage = fieldsOf(last);
    const cached = countOf(usage["cached_input_tokens"]);
    const fresh = Math.max(0, countOf(usage["input_tokens"]) - cached);
    this.#usage = { in: fresh, cr: cached, cw: 0, out: countOf(usage["output_tokens"]) };
  }

  #compacted(payload: Fields): void {
    this.#settle();
    const kept = payload["replacement_history"];
    this.#client = [];
    if (Array.isArray(kept)) {
      this.#history = historyOf(kept);
      return;
    }
    this.#problems.add(
      "compactions that do not say what they left: taken for the user's words and a summary",
    );
    const words = this.#history.filter(({ role }) => role === "user").flatMap(blocksOf);
    const summary = { type: "text", text: textOf(payload["message"]) ?? "" };
    const content = [...words.filter(({ type }) => type === "text"), summary];
    this.#history = [{ role: "user", content }];
  }

  #rolledBack(turns: number): void {
    this.#settle();
    this.#client = [];
    const prompts = this.#history.flatMap((message, at) => (isPrompt(message) ? [at] : []));
    const cut = turns === 0 ? undefined : prompts.at(-turns);
    this.#history = this.#history.slice(0, cut ?? (turns === 0 ? undefined : 0));
  }
}

function isPrompt(message: WireMessage): boolean {
  return message.role === "user" && blocksOf(message).some(({ type }) => type === "text");
}

/** A thread that another was made from has its items; calls are named once, and words have their time. */
function idOf(answer: WireMessage, time: string | null): string {
  const call = blocksOf(answer).find(({ type }) => type === "tool_use");
  const named = call === undefined ? null : textOf(call["id"]);
  return named === null || named === "" ? `${time} ${JSON.stringify(answer.content).slice(0, 200)}` : named;
}

function historyOf(items: readonly unknown[]): WireMessage[] {
  const read = items.map((item) => readItem(fieldsOf(item))).filter((item) => item !== null);
  const messages: { role: string; content: WireBlock[] }[] = [];
  for (const { side, blocks } of read) {
    const role = side === "model" ? "assistant" : "user";
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: [...blocks] });
  }
  return messages;
}

/** Whether a first line is of this client. */
export function isCodex(fields: Fields): boolean {
  if (fields["type"] === "session_meta") return true;
  return textOf(fields["id"]) !== null && fields["timestamp"] !== undefined && "instructions" in fields;
}
