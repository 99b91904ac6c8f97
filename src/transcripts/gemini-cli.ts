import { jsonLines } from "./json-lines.ts";
import type { WireBlock, WireMessage, WireUsage } from "./recording.ts";
import {
  joinedMessage,
  ProblemList,
  type ReadRequest,
  type Transcript,
  type TranscriptFile,
} from "./transcript.ts";
import { countOf, type Fields, fieldsOf, listOf, parsed, textOf } from "./values.ts";

/**
 * A file of Gemini CLI: one JSON object with all messages, or since its later versions one line for each
 * message. A message that is written again replaces what was written of it before.
 */
export function readGeminiCli({ name, text }: TranscriptFile): Transcript | null {
  const problems = new ProblemList(name);
  const whole = fieldsOf(parsed(text));
  const isWhole = Array.isArray(whole["messages"]);
  const steps = isWhole ? listOf(whole["messages"]).map(fieldsOf) : stepsIn(text, problems);
  const head = isWhole ? whole : (steps[0] ?? {});
  const session = textOf(head["sessionId"]);
  if (session === null) return null;
  const requests = requestsIn(steps, problems);
  const streams = [{ name: null, requests: () => requests }];
  const parent = head["kind"] === "subagent" ? folderOf(name) : null;
  const read = { client: "gemini-cli", session, parent, project: null, system: null, streams } as const;
  return { ...read, problems: problems.list };
}

function stepsIn(text: string, problems: ProblemList): readonly Fields[] {
  const lines = jsonLines(text, problems).map(({ fields }) => fields);
  return lines.flatMap((fields) => {
    const set = fieldsOf(fields["$set"])["messages"];
    return set === undefined ? [fields] : listOf(set).map(fieldsOf);
  });
}

/** An agent's file lies in a folder called like the session that started it. */
function folderOf(name: string): string | null {
  return name.split(/[/\\]/).at(-2) ?? null;
}

/** What the program tells its user, and not the model. */
const untold = new Set(["info", "warning", "error"]);

function requestsIn(steps: readonly Fields[], problems: ProblemList): readonly ReadRequest[] {
  const last = new Map(steps.flatMap((step) => (textOf(step["id"]) === null ? [] : [[step["id"], step]])));
  const met = new Set<unknown>();
  const talk = new Talk();
  for (const step of steps) {
    const { id, type } = step;
    if (textOf(step["$rewindTo"]) !== null) talk.rewind(step["$rewindTo"]);
    if (textOf(id) === null || met.has(id)) continue;
    met.add(id);
    const final = last.get(id) ?? step;
    if (type === "user") talk.user(final);
    else if (type === "gemini") talk.model(final);
    else if (!untold.has(textOf(type) ?? ""))
      problems.add(`messages of a kind nobody knows: ${JSON.stringify(type ?? null)}`);
  }
  if (talk.unasked > 0) problems.add("answers to nothing that was written down");
  return talk.requests;
}

type Placed = { readonly id: unknown; readonly message: WireMessage };

class Talk {
  readonly requests: ReadRequest[] = [];
  unasked = 0;
  #history: Placed[] = [];
  #said: { readonly id: unknown; readonly content: WireMessage["content"] }[] = [];

  user({ id, content }: Fields): void {
    this.#said.push({ id, content: contentOf(content) });
  }

  model(step: Fields): void {
    this.#settle();
    const answer = { role: "assistant", content: answerOf(step) };
    const messages = this.#history.map(({ message }) => message);
    this.#history.push({ id: step["id"], message: answer });
    const results = listOf(step["toolCalls"]).flatMap((call) => resultOf(fieldsOf(call)));
    if (results.length > 0) this.#said.push({ id: step["id"], content: results });
    if (answer.content.length === 0) return;
    if (messages.length === 0) this.unasked += 1;
    else this.requests.push({ ...factsOf(step), messages, answer });
  }

  /** The message that is named leaves, and everything behind it. */
  rewind(id: unknown): void {
    this.#settle();
    const at = this.#history.findIndex((placed) => placed.id === id);
    if (at !== -1) this.#history = this.#history.slice(0, at);
  }

  #settle(): void {
    const [first] = this.#said;
    if (first === undefined) return;
    const contents = this.#said.map(({ content }) => content);
    this.#history.push({ id: first.id, message: joinedMessage("user", contents) });
    this.#said = [];
  }
}

function factsOf(step: Fields): Omit<ReadRequest, "messages" | "answer"> {
  return {
    id: textOf(step["id"]) ?? "",
    model: textOf(step["model"]),
    time: textOf(step["timestamp"]),
    usage: usageOf(step["tokens"]),
  };
}

function answerOf(step: Fields): readonly WireBlock[] {
  const thoughts = listOf(step["thoughts"]).map(fieldsOf).map(thoughtOf);
  const text = contentOf(step["content"]);
  const texts = typeof text === "string" ? (text === "" ? [] : [{ type: "text", text }]) : text;
  return [...thoughts, ...texts, ...listOf(step["toolCalls"]).map((call) => callOf(fieldsOf(call)))];
}

function thoughtOf({ subject, description }: Fields): WireBlock {
  const thinking = [subject, description].flatMap((words) => textOf(words) ?? []).join("\n");
  return { type: "thinking", thinking };
}

function callOf({ id, name, args }: Fields): WireBlock {
  return { type: "tool_use", id: textOf(id) ?? "", name: textOf(name) ?? "", input: args ?? {} };
}

/** A text, or parts; a text stays one. */
function contentOf(content: unknown): WireMessage["content"] {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [content];
  return parts.flatMap((part): readonly WireBlock[] => {
    if (typeof part === "string") return [{ type: "text", text: part }];
    const text = textOf(fieldsOf(part)["text"]);
    return text === null ? imageIn(fieldsOf(part)) : [{ type: "text", text }];
  });
}

function imageIn(part: Fields): readonly WireBlock[] {
  const { mimeType, data } = fieldsOf(part["inlineData"]);
  const source = { type: "base64", media_type: textOf(mimeType) ?? "image/png", data: textOf(data) ?? "" };
  return textOf(data) === null ? [] : [{ type: "image", source }];
}

/** A call that was never answered has no result. */
function resultOf({ id, result, status }: Fields): readonly WireBlock[] {
  const parts = Array.isArray(result) ? result : result === undefined || result === null ? [] : [result];
  if (parts.length === 0) return [];
  const texts = parts.map((part) => (typeof part === "string" ? part : partText(fieldsOf(part))));
  const block = { type: "tool_result", tool_use_id: textOf(id) ?? "", content: texts.join("\n") };
  return [status === "error" ? { ...block, is_error: true } : block];
}

function partText(part: Fields): string {
  const response = fieldsOf(part["functionResponse"])["response"];
  const { output, error } = fieldsOf(response);
  return textOf(output) ?? textOf(error) ?? textOf(part["text"]) ?? JSON.stringify(response ?? part);
}

/** What is read from the cache is part of the input here; thinking is charged as output. */
function usageOf(tokens: unknown): WireUsage | null {
  if (tokens === undefined || tokens === null) return null;
  const { input, cached, output, thoughts, tool } = fieldsOf(tokens);
  const prompt = countOf(input) + countOf(tool);
  const read = Math.min(prompt, countOf(cached));
  return { in: prompt - read, cr: read, cw: 0, out: countOf(output) + countOf(thoughts) };
}

/** Whether a first line, or a whole file, is of this client. */
export function isGeminiCli(fields: Fields): boolean {
  return textOf(fields["sessionId"]) !== null && fields["projectHash"] !== undefined;
}
