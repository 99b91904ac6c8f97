import { type AnswerReader, answerReader, readAnswer } from "../../protocols/index.ts";
import { isWholeStop, type ModelAnswer, type WireBlock } from "../provider.ts";
import type { Failure } from "./failure.ts";

/** An answer, or why what came is none. */
export type Heard = { readonly answer: ModelAnswer } | { readonly failure: Failure };

/** One message of the Messages interface, as JSON. */
export function heardMessage(json: Uint8Array): Heard {
  return heardOf(readAnswer(json, "application/json"));
}

export type MessageEvents = {
  /** Takes the JSON of one event. */
  readonly take: (data: string) => void;
  readonly finish: () => Heard;
};

/** An answer that comes in events; `heard` gets its text piece by piece. */
export function messageEvents(heard: (text: string) => void): MessageEvents {
  const reader = answerReader();
  let call: WireBlock | null = null;
  const take = (data: string): void => {
    reader.take({ event: "", data });
    call = data.includes(blockStart) ? callIn(data) : call;
    const text = textIn(data);
    if (text !== "") heard(text);
  };
  return { take, finish: () => heardOf(reader.finish(), call) };
}

const blockStart = '"content_block_start"';

/** A call that begins, before anything is known of its input. */
function callIn(data: string): WireBlock | null {
  const { type, content_block: block } = JSON.parse(data) as { type?: unknown; content_block?: WireBlock };
  if (type !== "content_block_start" || block?.type !== "tool_use") return null;
  return { type: "tool_use", id: block["id"] ?? null, name: block["name"] ?? null, input: {} };
}

type Read = ReturnType<AnswerReader["finish"]>;

/** `call`: the last block that began, if it is a call. Where the answer was cut off, it may be half a one. */
function heardOf({ units, stop, usage, isWhole, problem }: Read, call: WireBlock | null = null): Heard {
  const texts = units.map(({ bytes }) => Buffer.from(bytes).toString());
  const content = texts.map((text) => JSON.parse(text) as WireBlock); // they were read as blocks
  const isHalf = call !== null && !content.some(({ id }) => id === call["id"]);
  if (isHalf && stop !== null && !isWholeStop(stop)) content.push(call);
  else if (problem !== null) return { failure: { type: "broken", problem } };
  else if (!isWhole || stop === null) return { failure: { type: "broken", problem: "its end did not come" } };
  return { answer: { content, stop, usage: usage ?? { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 } } };
}

function textIn(data: string): string {
  if (!data.includes('"text_delta"')) return "";
  const { type, delta } = JSON.parse(data) as { type?: unknown; delta?: { type?: unknown; text?: unknown } };
  const said = type === "content_block_delta" && delta?.type === "text_delta" ? delta.text : "";
  return typeof said === "string" ? said : "";
}
