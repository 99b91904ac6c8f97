import { must } from "../../base/index.ts";
import type { Usage } from "../../engine/frames/index.ts";
import { eventReader, type WireEvent } from "../sse.ts";
import type { AnswerUnit, WireAnswer } from "../wire.ts";
import { deltaText, type EventChunk, eventEnd, type PlainDelta, readPlainDelta } from "./answer-event.ts";
import { clearedResults } from "./context-edit.ts";
import { countField, stringField, type WireFields, wireFields } from "./schema.ts";
import { unitOfAnswer } from "./units.ts";

/** Reads an answer in any form: server-sent events, one JSON message, or an error. */
export function readWireAnswer(body: Uint8Array, contentType: string): WireAnswer {
  return contentType.includes("text/event-stream") ? readEvents(body) : readMessage(body);
}

const stopName = Buffer.from('"message_stop"');
const stopWithin = 128;

/** The last event of an answer is at the end of these pieces. */
export function endsWithStop(pieces: readonly Buffer[]): boolean {
  return Buffer.concat(pieces.map((piece) => piece.subarray(-stopWithin))).includes(stopName);
}

/** Reads an answer event by event, as it comes. */
export class AnswerReader {
  readonly #builder = new AnswerBuilder();
  /** Reads events that are not in the usual form, and bytes that are not split into events yet. */
  readonly #events = eventReader();

  /** The last event of the answer has come; the end of its body may still be missing. */
  get hasStopped(): boolean {
    return this.#builder.hasStopped;
  }

  /** Reads one event whose lines were read before. */
  addEvent(event: WireEvent): void {
    this.#builder.addEvent(event);
  }

  /** Reads one whole event; `delta` is given if it is a delta in the usual form. */
  addChunk(chunk: EventChunk, delta: PlainDelta | null): void {
    const text = delta === null ? null : deltaText(chunk, delta);
    if (delta === null || text === null) this.addBytes(chunk.bytes.subarray(chunk.start, chunk.end));
    else this.#builder.addDelta(delta, text);
  }

  /** Reads bytes cut anywhere. */
  addBytes(bytes: Uint8Array): void {
    for (const event of this.#events.push(bytes)) this.#builder.addEvent(event);
  }

  /** The answer so far; `hasRest` if the beginning of another event has come. */
  finish(hasRest = false): WireAnswer {
    if (this.#events.hasOverflowed()) return this.#builder.finish("an event is too long");
    const isOpen = hasRest || this.#events.pendingBytes() > 0;
    return this.#builder.finish(isOpen ? "it ends inside an event" : null);
  }
}

function readEvents(body: Uint8Array): WireAnswer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString("latin1");
  const reader = new AnswerReader();
  let start = 0;
  for (let end = eventEnd(bytes, 0); end !== -1; end = eventEnd(bytes, end)) {
    const chunk = { bytes, text, start, end };
    reader.addChunk(chunk, readPlainDelta(chunk));
    start = end;
  }
  reader.addBytes(bytes.subarray(start));
  return reader.finish();
}

function readMessage(body: Uint8Array): WireAnswer {
  const message = parseFields(Buffer.from(body).toString("utf8"));
  const isWhole = message !== null;
  const none = { units: [], usage: null, model: null, stop: null, cleared: null, isWhole };
  if (message === null) return { ...none, problem: "it is not JSON" };
  const error = wireFields(message["error"]);
  if (error !== null) return { ...none, problem: errorText(error) };
  const content = Array.isArray(message["content"]) ? message["content"] : [];
  return {
    ...none,
    units: content.flatMap((block) => {
      const fields = wireFields(block);
      return fields === null ? [] : [unitOfAnswer(fields, JSON.stringify(block))];
    }),
    usage: usageOf(wireFields(message["usage"])),
    model: stringField(message, "model"),
    stop: stringField(message, "stop_reason"),
    cleared: clearedResults(message["context_management"]),
    problem: null,
  };
}

/** Builds an answer from its events. */
class AnswerBuilder {
  readonly #open = new Map<number, AnswerBlockBuilder>();
  readonly #units: AnswerUnit[] = [];
  #usage: WireFields | null = null;
  #model: string | null = null;
  #stop: string | null = null;
  #cleared: number | null = null;
  #isWhole = false;
  #problem: string | null = null;

  get hasStopped(): boolean {
    return this.#isWhole;
  }

  addDelta({ index, type, field }: PlainDelta, text: string): void {
    this.#open.get(index)?.addPlain(type, field, text);
  }

  addEvent({ event, data }: WireEvent): void {
    const fields = parseFields(data);
    if (fields === null) {
      this.#noteProblem("an event is not JSON");
      return;
    }
    const index = countField(fields, "index");
    switch (stringField(fields, "type") ?? event) {
      case "message_start":
        this.#start(wireFields(fields["message"]));
        return;
      case "content_block_start":
        this.#open.set(index, new AnswerBlockBuilder(wireFields(fields["content_block"]) ?? {}));
        return;
      case "content_block_delta":
        this.#open.get(index)?.add(wireFields(fields["delta"]) ?? {});
        return;
      case "content_block_stop":
        this.#close(index);
        return;
      case "message_delta":
        this.#stop = stringField(wireFields(fields["delta"]), "stop_reason") ?? this.#stop;
        this.#usage = { ...this.#usage, ...wireFields(fields["usage"]) };
        this.#cleared = clearedResults(fields["context_management"]) ?? this.#cleared;
        return;
      case "message_stop":
        this.#isWhole = true;
        return;
      case "error":
        this.#noteProblem(errorText(wireFields(fields["error"]) ?? {}));
    }
  }

  #noteProblem(problem: string): void {
    this.#problem ??= problem;
  }

  finish(endProblem: string | null): WireAnswer {
    const problem = this.#problem ?? endProblem;
    const isWhole = this.#isWhole && problem === null;
    const usage = this.#usage === null ? null : usageOf(this.#usage);
    const [model, stop, cleared] = [this.#model, this.#stop, this.#cleared];
    return { units: [...this.#units], usage, model, stop, cleared, isWhole, problem };
  }

  #start(message: WireFields | null): void {
    this.#model = stringField(message, "model");
    this.#usage = wireFields(message?.["usage"]);
    this.#cleared = clearedResults(message?.["context_management"]);
  }

  /** Only blocks that were sent to their end count. */
  #close(index: number): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    const unit = block?.finish() ?? null;
    if (unit === null) this.#noteProblem("a content block cannot be read");
    else this.#units.push(unit);
  }
}

/** The input of a tool call comes as JSON text in pieces, apart from the texts of the block. */
const INPUT = "partial_json";

/** For each type of delta, the field that holds its text; the same field of the block is extended. */
const textFields: ReadonlyMap<string, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["signature_delta", "signature"],
  ["compaction_delta", "content"],
  ["input_json_delta", INPUT],
]);

class AnswerBlockBuilder {
  readonly #start: WireFields;
  readonly #texts = new Map<string, string[]>();
  readonly #citations: unknown[] = [];

  constructor(start: WireFields) {
    this.#start = start;
  }

  add(delta: WireFields): void {
    if (delta["citation"] !== undefined) this.#citations.push(delta["citation"]);
    const field = textFields.get(stringField(delta, "type") ?? "");
    const text = field === undefined ? null : stringField(delta, field);
    if (field !== undefined && text !== null) this.#extend(field, text);
  }

  addPlain(type: string, field: string, text: string): void {
    if (textFields.get(type) === field) this.#extend(field, text);
  }

  #extend(field: string, text: string): void {
    const texts = this.#texts.get(field);
    if (texts === undefined) this.#texts.set(field, [text]);
    else texts.push(text);
  }

  /** The block as a client will send it back: its fields in their order, its input byte for byte. */
  finish(): AnswerUnit | null {
    const fields: Record<string, unknown> = { ...this.#start };
    if (this.#citations.length > 0)
      fields["citations"] = [...listIn(fields, "citations"), ...this.#citations];
    for (const [field, texts] of this.#texts)
      if (field !== INPUT) fields[field] = `${stringField(fields, field) ?? ""}${texts.join("")}`;
    const inputText = this.#texts.get(INPUT)?.join("") ?? "";
    if (inputText === "") return unitOfAnswer(fields, JSON.stringify(fields));
    const input = parseValue(inputText);
    if (input === undefined) return null;
    const parts = Object.entries(fields).map(([name, value]) => {
      const text = name === "input" ? inputText : must(JSON.stringify(value), "fields came from JSON");
      return `${JSON.stringify(name)}:${text}`;
    });
    return unitOfAnswer({ ...fields, input }, `{${parts.join(",")}}`);
  }
}

function listIn(fields: WireFields, name: string): readonly unknown[] {
  const value = fields[name];
  return Array.isArray(value) ? value : [];
}

/** For an answer of several rounds it has the prompt of the last round, and the output of all. */
function usageOf(usage: WireFields | null): Usage | null {
  if (usage === null) return null;
  return {
    input: countField(usage, "input_tokens"),
    cacheRead: countField(usage, "cache_read_input_tokens"),
    cacheWrite: countField(usage, "cache_creation_input_tokens"),
    output: countField(usage, "output_tokens"),
  };
}

function errorText(error: WireFields): string {
  const [type, message] = [stringField(error, "type") ?? "error", stringField(error, "message") ?? ""];
  return `${type}: ${message}`.slice(0, 300);
}

function parseFields(text: string): WireFields | null {
  return wireFields(parseValue(text));
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
