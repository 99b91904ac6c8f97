import { type AnswerReader, answerReader, readAnswer } from "../../protocols/index.ts";
import type { ModelAnswer, WireBlock } from "../provider.ts";
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
  const take = (data: string): void => {
    reader.take({ event: "", data });
    const text = textIn(data);
    if (text !== "") heard(text);
  };
  return { take, finish: () => heardOf(reader.finish()) };
}

function heardOf({ units, stop, usage, isWhole, problem }: ReturnType<AnswerReader["finish"]>): Heard {
  if (problem !== null) return { failure: { type: "broken", problem } };
  if (!isWhole || stop === null) return { failure: { type: "broken", problem: "its end did not come" } };
  const texts = units.map(({ bytes }) => Buffer.from(bytes).toString());
  const content = texts.map((text) => JSON.parse(text) as WireBlock); // they were read as blocks
  return { answer: { content, stop, usage: usage ?? { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 } } };
}

function textIn(data: string): string {
  if (!data.includes('"text_delta"')) return "";
  const { type, delta } = JSON.parse(data) as { type?: unknown; delta?: { type?: unknown; text?: unknown } };
  const said = type === "content_block_delta" && delta?.type === "text_delta" ? delta.text : "";
  return typeof said === "string" ? said : "";
}
