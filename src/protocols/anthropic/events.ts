import { must } from "../../base/index.ts";
import type { Usage } from "../../engine/index.ts";
import { eventReader, type WireEvent } from "../sse.ts";
import type { AnswerUnit, WireAnswer } from "../wire.ts";
import { clearedIn } from "./context-edit.ts";
import { countIn, type Fields, fieldsOf, textIn } from "./schema.ts";
import { unitOfAnswer } from "./units.ts";

/** What an answer is read as, however it came: server-sent events, one JSON message, or an error. */
export function readAnswer(body: Uint8Array, contentType: string): WireAnswer {
  return contentType.includes("text/event-stream") ? readEvents(body) : readMessage(body);
}

/** Takes the events of an answer one by one; in the end it says what `readAnswer` says of them all. */
export type AnswerReader = {
  readonly take: (event: WireEvent) => void;
  readonly finish: () => WireAnswer;
};

export function answerReader(): AnswerReader {
  const answer = new Answer();
  return { take: (event) => answer.take(event), finish: () => answer.finish() };
}

function readEvents(body: Uint8Array): WireAnswer {
  const reader = eventReader();
  const answer = new Answer();
  for (const event of reader.push(body)) answer.take(event);
  if (reader.overflowed()) answer.damaged("an event is too long");
  else if (reader.leftOver() > 0) answer.damaged("it ends inside an event");
  return answer.finish();
}

function readMessage(body: Uint8Array): WireAnswer {
  const message = parsed(Buffer.from(body).toString("utf8"));
  const isWhole = message !== null;
  const none = { units: [], usage: null, model: null, stop: null, cleared: null, isWhole };
  if (message === null) return { ...none, problem: "it is not JSON" };
  const error = fieldsOf(message["error"]);
  if (error !== null) return { ...none, problem: errorText(error) };
  const content = Array.isArray(message["content"]) ? message["content"] : [];
  return {
    ...none,
    units: content.flatMap((block) => {
      const fields = fieldsOf(block);
      return fields === null ? [] : [unitOfAnswer(fields, JSON.stringify(block))];
    }),
    usage: usageOf(fieldsOf(message["usage"])),
    model: textIn(message, "model"),
    stop: textIn(message, "stop_reason"),
    cleared: clearedIn(message["context_management"]),
    problem: null,
  };
}

/**
 * What nearly all events of an answer look like, as providers write them. It is read as it stands: parsing
 * such a one costs many times as much and finds the same.
 */
const plainDelta =
  /^\{"type":"content_block_delta","index":(0|[1-9]\d{0,5}),"delta":\{"type":"([a-z_]+)","([a-z_]+)":"([^"\\\p{Cc}]*)"\} *\}$/u;
const plainCharsMax = 4_096;

/** Content blocks of one answer as their events build them up. */
class Answer {
  readonly #open = new Map<number, OpenBlock>();
  readonly #units: AnswerUnit[] = [];
  #usage: Fields | null = null;
  #model: string | null = null;
  #stop: string | null = null;
  #cleared: number | null = null;
  #isWhole = false;
  #problem: string | null = null;

  take({ event, data }: WireEvent): void {
    const written = data.length <= plainCharsMax ? plainDelta.exec(data) : null;
    if (written === null) this.#takeParsed(event, data);
    else this.#open.get(Number(written[1]))?.addPlain(written);
  }

  #takeParsed(event: string, data: string): void {
    const fields = parsed(data);
    if (fields === null) {
      this.damaged("an event is not JSON");
      return;
    }
    const index = countIn(fields, "index");
    switch (textIn(fields, "type") ?? event) {
      case "message_start":
        this.#start(fieldsOf(fields["message"]));
        return;
      case "content_block_start":
        this.#open.set(index, new OpenBlock(fieldsOf(fields["content_block"]) ?? {}));
        return;
      case "content_block_delta":
        this.#open.get(index)?.add(fieldsOf(fields["delta"]) ?? {});
        return;
      case "content_block_stop":
        this.#close(index);
        return;
      case "message_delta":
        this.#stop = textIn(fieldsOf(fields["delta"]), "stop_reason") ?? this.#stop;
        this.#usage = { ...this.#usage, ...fieldsOf(fields["usage"]) };
        this.#cleared = clearedIn(fields["context_management"]) ?? this.#cleared;
        return;
      case "message_stop":
        this.#isWhole = true;
        return;
      case "error":
        this.damaged(errorText(fieldsOf(fields["error"]) ?? {}));
    }
  }

  damaged(problem: string): void {
    this.#problem ??= problem;
  }

  finish(): WireAnswer {
    const isWhole = this.#isWhole && this.#problem === null;
    const usage = this.#usage === null ? null : usageOf(this.#usage);
    const [model, stop, problem, cleared] = [this.#model, this.#stop, this.#problem, this.#cleared];
    return { units: this.#units, usage, model, stop, cleared, isWhole, problem };
  }

  #start(message: Fields | null): void {
    this.#model = textIn(message, "model");
    this.#usage = fieldsOf(message?.["usage"]);
    this.#cleared = clearedIn(message?.["context_management"]);
  }

  /** Only blocks that were sent to their end count: a half one was never said. */
  #close(index: number): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    const unit = block?.finish() ?? null;
    if (unit === null) this.damaged("a content block cannot be read");
    else this.#units.push(unit);
  }
}

/** The input of a tool comes as text of its own, not as a text of the block. */
const INPUT = "partial_json";

/** Which field of a delta of each type goes on with which field of its block. */
const textFields: ReadonlyMap<string, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["signature_delta", "signature"],
  ["compaction_delta", "content"],
  ["input_json_delta", INPUT],
]);

class OpenBlock {
  readonly #start: Fields;
  readonly #texts = new Map<string, string[]>();
  readonly #citations: unknown[] = [];

  constructor(start: Fields) {
    this.#start = start;
  }

  add(delta: Fields): void {
    if (delta["citation"] !== undefined) this.#citations.push(delta["citation"]);
    const field = textFields.get(textIn(delta, "type") ?? "");
    const text = field === undefined ? null : textIn(delta, field);
    if (field !== undefined && text !== null) this.#goOn(field, text);
  }

  addPlain([, , type = "", field = "", text = ""]: RegExpExecArray): void {
    if (textFields.get(type) === field) this.#goOn(field, text);
  }

  #goOn(field: string, text: string): void {
    const texts = this.#texts.get(field);
    if (texts === undefined) this.#texts.set(field, [text]);
    else texts.push(text);
  }

  /** The block as a client will send it back: its fields in their order, its input as it was written. */
  finish(): AnswerUnit | null {
    const fields: Record<string, unknown> = { ...this.#start };
    if (this.#citations.length > 0)
      fields["citations"] = [...listIn(fields, "citations"), ...this.#citations];
    for (const [field, texts] of this.#texts)
      if (field !== INPUT) fields[field] = `${textIn(fields, field) ?? ""}${texts.join("")}`;
    const written = this.#texts.get(INPUT)?.join("") ?? "";
    if (written === "") return unitOfAnswer(fields, JSON.stringify(fields));
    const input = parsedValue(written);
    if (input === undefined) return null;
    const parts = Object.entries(fields).map(([name, value]) => {
      const text = name === "input" ? written : must(JSON.stringify(value), "fields came from JSON");
      return `${JSON.stringify(name)}:${text}`;
    });
    return unitOfAnswer({ ...fields, input }, `{${parts.join(",")}}`);
  }
}

function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  return Array.isArray(value) ? value : [];
}

/** Several samplings in one answer: what counts is the last one's prompt, and everything that was written. */
function usageOf(usage: Fields | null): Usage | null {
  if (usage === null) return null;
  return {
    input: countIn(usage, "input_tokens"),
    cacheRead: countIn(usage, "cache_read_input_tokens"),
    cacheWrite: countIn(usage, "cache_creation_input_tokens"),
    output: countIn(usage, "output_tokens"),
  };
}

function errorText(error: Fields): string {
  const [type, message] = [textIn(error, "type") ?? "error", textIn(error, "message") ?? ""];
  return `${type}: ${message}`.slice(0, 300);
}

function parsed(text: string): Fields | null {
  return fieldsOf(parsedValue(text));
}

function parsedValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
