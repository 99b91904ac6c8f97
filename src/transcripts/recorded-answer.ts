import type { Json } from "../base/index.ts";
import type { RecordedBlock } from "./session-recording.ts";

/** The API in whose form recordings are kept, and the request that it answers. */
export const recordingRoute = { protocol: "anthropic", method: "POST", target: "/v1/messages" } as const;

/** An answer of a model, as a player of recordings gives it. */
export type RecordedAnswer = {
  readonly model: string | null;
  readonly content: readonly RecordedBlock[];
  /** Whether the model ended its turn, or waits for the results of its calls. Absent if it is not known. */
  readonly stop?: "end" | "calls";
  readonly usage?: RecordedAnswerUsage;
};

/** Tokens of the prompt by price, and of the answer. */
export type RecordedAnswerUsage = {
  readonly fresh: number;
  readonly read: number;
  readonly written: number;
  readonly output: number;
};

export function answerBody({ model, content, stop, usage }: RecordedAnswer): Buffer {
  const ending = stop === undefined ? {} : { stop_reason: stop === "end" ? "end_turn" : "tool_use" };
  const counted = usage === undefined ? {} : { usage: usageFields(usage) };
  return Buffer.from(JSON.stringify({ model, content, ...ending, ...counted }));
}

function usageFields({ fresh, read, written, output }: RecordedAnswerUsage): object {
  return {
    input_tokens: fresh,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: output,
  };
}

export type RecordedCall = { readonly id: string; readonly name: string; readonly input: Json };

export function callBlock({ id, name, input }: RecordedCall): RecordedBlock {
  return { type: "tool_use", id, name, input };
}
