import {
  joinMessage,
  ProblemList,
  type ReadExchange,
  type Transcript,
  type TranscriptText,
} from "./client-transcript.ts";
import { readJsonLines } from "./json-lines.ts";
import type { RecordedBlock, RecordedMessage, RecordedUsage } from "./session-recording.ts";
import {
  countOf,
  jsonList,
  parseJson,
  stringOf,
  type TranscriptFields,
  transcriptFields,
} from "./transcript-values.ts";

/**
 * Reads a file of Gemini CLI: one JSON object with all messages, or in later versions one line for each
 * message. A message that is written again replaces its earlier form.
 */
export function readGeminiCli({ name, text }: TranscriptText): Transcript | null {
  const problems = new ProblemList(name);
  const whole = transcriptFields(parseJson(text));
  const isWhole = Array.isArray(whole["messages"]);
  const steps = isWhole ? jsonList(whole["messages"]).map(transcriptFields) : stepsIn(text, problems);
  const head = isWhole ? whole : (steps[0] ?? {});
  const session = stringOf(head["sessionId"]);
  if (session === null) return null;
  const requests = requestsIn(steps, problems);
  const streams = [{ name: null, requests: () => requests }];
  const parent = head["kind"] === "subagent" ? folderOf(name) : null;
  const read = { client: "gemini-cli", session, parent, project: null, system: null, streams } as const;
  return { ...read, problems: problems.list };
}

function stepsIn(text: string, problems: ProblemList): readonly TranscriptFields[] {
  const lines = readJsonLines(text, problems).map(({ fields }) => fields);
  return lines.flatMap((fields) => {
    const set = transcriptFields(fields["$set"])["messages"];
    return set === undefined ? [fields] : jsonList(set).map(transcriptFields);
  });
}

/** The file of an agent lies in a folder with the name of the session that started it. */
function folderOf(name: string): string | null {
  return name.split(/[/\\]/).at(-2) ?? null;
}

/** Types of messages to the user, which the model does not see. */
const programMessages = new Set(["info", "warning", "error"]);

function requestsIn(steps: readonly TranscriptFields[], problems: ProblemList): readonly ReadExchange[] {
  const last = new Map(steps.flatMap((step) => (stringOf(step["id"]) === null ? [] : [[step["id"], step]])));
  const seen = new Set<unknown>();
  const conversation = new GeminiConversation();
  for (const step of steps) {
    const { id, type } = step;
    if (stringOf(step["$rewindTo"]) !== null) conversation.rewindTo(step["$rewindTo"]);
    if (stringOf(id) === null || seen.has(id)) continue;
    seen.add(id);
    const final = last.get(id) ?? step;
    if (type === "user") conversation.addUserMessage(final);
    else if (type === "gemini") conversation.addAnswer(final);
    else if (!programMessages.has(stringOf(type) ?? ""))
      problems.add(`messages of a kind nobody knows: ${JSON.stringify(type ?? null)}`);
  }
  if (conversation.answersWithoutPrompt > 0) problems.add("answers to nothing that was written down");
  return conversation.requests;
}

type IdentifiedMessage = { readonly id: unknown; readonly message: RecordedMessage };

class GeminiConversation {
  readonly requests: ReadExchange[] = [];
  answersWithoutPrompt = 0;
  #history: IdentifiedMessage[] = [];
  #pending: { readonly id: unknown; readonly content: RecordedMessage["content"] }[] = [];

  addUserMessage({ id, content }: TranscriptFields): void {
    this.#pending.push({ id, content: contentOf(content) });
  }

  addAnswer(step: TranscriptFields): void {
    this.#addPending();
    const answer = { role: "assistant", content: answerOf(step) };
    const messages = this.#history.map(({ message }) => message);
    this.#history.push({ id: step["id"], message: answer });
    const results = jsonList(step["toolCalls"]).flatMap((call) => resultOf(transcriptFields(call)));
    if (results.length > 0) this.#pending.push({ id: step["id"], content: results });
    if (answer.content.length === 0) return;
    if (messages.length === 0) this.answersWithoutPrompt += 1;
    else this.requests.push({ ...factsOf(step), messages, answer });
  }

  /** Drops the named message and everything after it. */
  rewindTo(id: unknown): void {
    this.#addPending();
    const at = this.#history.findIndex((message) => message.id === id);
    if (at !== -1) this.#history = this.#history.slice(0, at);
  }

  #addPending(): void {
    const [first] = this.#pending;
    if (first === undefined) return;
    const contents = this.#pending.map(({ content }) => content);
    this.#history.push({ id: first.id, message: joinMessage("user", contents) });
    this.#pending = [];
  }
}

function factsOf(step: TranscriptFields): Omit<ReadExchange, "messages" | "answer"> {
  return {
    id: stringOf(step["id"]) ?? "",
    model: stringOf(step["model"]),
    time: stringOf(step["timestamp"]),
    usage: usageOf(step["tokens"]),
  };
}

function answerOf(step: TranscriptFields): readonly RecordedBlock[] {
  const thoughts = jsonList(step["thoughts"]).map(transcriptFields).map(thoughtOf);
  const text = contentOf(step["content"]);
  const texts = typeof text === "string" ? (text === "" ? [] : [{ type: "text", text }]) : text;
  return [
    ...thoughts,
    ...texts,
    ...jsonList(step["toolCalls"]).map((call) => callOf(transcriptFields(call))),
  ];
}

function thoughtOf({ subject, description }: TranscriptFields): RecordedBlock {
  const thinking = [subject, description].flatMap((text) => stringOf(text) ?? []).join("\n");
  return { type: "thinking", thinking };
}

function callOf({ id, name, args }: TranscriptFields): RecordedBlock {
  return { type: "tool_use", id: stringOf(id) ?? "", name: stringOf(name) ?? "", input: args ?? {} };
}

/** The content is a text or a list of parts; a text stays a text. */
function contentOf(content: unknown): RecordedMessage["content"] {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [content];
  return parts.flatMap((part): readonly RecordedBlock[] => {
    if (typeof part === "string") return [{ type: "text", text: part }];
    const text = stringOf(transcriptFields(part)["text"]);
    return text === null ? imageIn(transcriptFields(part)) : [{ type: "text", text }];
  });
}

function imageIn(part: TranscriptFields): readonly RecordedBlock[] {
  const { mimeType, data } = transcriptFields(part["inlineData"]);
  const source = {
    type: "base64",
    media_type: stringOf(mimeType) ?? "image/png",
    data: stringOf(data) ?? "",
  };
  return stringOf(data) === null ? [] : [{ type: "image", source }];
}

/** Empty for a call that was never answered. */
function resultOf({ id, result, status }: TranscriptFields): readonly RecordedBlock[] {
  const parts = Array.isArray(result) ? result : result === undefined || result === null ? [] : [result];
  if (parts.length === 0) return [];
  const texts = parts.map((part) => (typeof part === "string" ? part : partText(transcriptFields(part))));
  const block = { type: "tool_result", tool_use_id: stringOf(id) ?? "", content: texts.join("\n") };
  return [status === "error" ? { ...block, is_error: true } : block];
}

function partText(part: TranscriptFields): string {
  const response = transcriptFields(part["functionResponse"])["response"];
  const { output, error } = transcriptFields(response);
  return stringOf(output) ?? stringOf(error) ?? stringOf(part["text"]) ?? JSON.stringify(response ?? part);
}

/** Gemini counts cache reads as part of the input, and thinking is charged as output. */
function usageOf(tokens: unknown): RecordedUsage | null {
  if (tokens === undefined || tokens === null) return null;
  const { input, cached, output, thoughts, tool } = transcriptFields(tokens);
  const prompt = countOf(input) + countOf(tool);
  const read = Math.min(prompt, countOf(cached));
  return { in: prompt - read, cr: read, cw: 0, out: countOf(output) + countOf(thoughts) };
}

/** True if a first line or a whole file is from this client. */
export function isGeminiCli(fields: TranscriptFields): boolean {
  return stringOf(fields["sessionId"]) !== null && fields["projectHash"] !== undefined;
}
