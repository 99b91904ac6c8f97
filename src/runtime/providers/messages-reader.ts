import { AnswerReader, type WireAnswer } from "../../protocols/index.ts";
import type { ModelAnswer, WireBlock } from "../provider.ts";
import { wire } from "../runtime-protocol.ts";
import type { ClientFailure } from "./failure.ts";
import { isCompleteStop } from "./stop-reason.ts";

/** An answer, or why the response holds none. */
export type AnswerOrFailure = { readonly answer: ModelAnswer } | { readonly failure: ClientFailure };

/** Reads an answer of the Messages API that came as one JSON text. */
export function readMessageAnswer(json: Uint8Array): AnswerOrFailure {
  return answerOrFailure(wire.answer.read(json, "application/json"));
}

export type MessageEventReader = {
  /** Reads the JSON of one event. */
  readonly take: (data: string) => void;
  readonly finish: () => AnswerOrFailure;
};

/** Reads an answer that comes in events; `onText` gets its text piece by piece. */
export function messageEventReader(onText: (text: string) => void): MessageEventReader {
  const reader = new AnswerReader();
  let call: WireBlock | null = null;
  const take = (data: string): void => {
    reader.addEvent({ event: "", data });
    call = data.includes(blockStart) ? callIn(data) : call;
    const text = textIn(data);
    if (text !== "") onText(text);
  };
  return { take, finish: () => answerOrFailure(reader.finish(), call) };
}

const blockStart = '"content_block_start"';

/** The call that begins with this event, without its input. Null if the event does not begin a call. */
function callIn(data: string): WireBlock | null {
  const { type, content_block: block } = JSON.parse(data) as { type?: unknown; content_block?: WireBlock };
  if (type !== "content_block_start" || block?.type !== "tool_use") return null;
  return { type: "tool_use", id: block["id"] ?? null, name: block["name"] ?? null, input: {} };
}

/**
 * `call` is the last block that began, if it is a call. If the answer was cut off, the call may be
 * incomplete.
 */
function answerOrFailure(
  { units, stop, usage, isWhole, problem }: WireAnswer,
  call: WireBlock | null = null,
): AnswerOrFailure {
  const texts = units.map(({ bytes }) => Buffer.from(bytes).toString());
  const content = texts.map((text) => JSON.parse(text) as WireBlock); // the reader only returns blocks
  const isIncomplete = call !== null && !content.some(({ id }) => id === call["id"]);
  if (isIncomplete && stop !== null && !isCompleteStop(stop)) content.push(call);
  else if (problem !== null) return { failure: { type: "broken", problem } };
  else if (!isWhole || stop === null) return { failure: { type: "broken", problem: "its end did not come" } };
  return { answer: { content, stop, usage: usage ?? { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 } } };
}

function textIn(data: string): string {
  if (!data.includes('"text_delta"')) return "";
  const { type, delta } = JSON.parse(data) as { type?: unknown; delta?: { type?: unknown; text?: unknown } };
  const text = type === "content_block_delta" && delta?.type === "text_delta" ? delta.text : "";
  return typeof text === "string" ? text : "";
}
