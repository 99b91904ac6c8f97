import type { JsonObject } from "../json-text.ts";
import { type DemoAnswer, demoModelName, piecesOf, type Said } from "./talk.ts";
import { argumentsIn, objectsIn, textIn, wordIn } from "./values.ts";

/** The Responses API. */
export function readResponses(body: JsonObject): readonly Said[] {
  const { input } = body;
  if (typeof input === "string") return [{ role: "user", text: input }];
  return objectsIn(input).flatMap((item): readonly Said[] => {
    switch (item["type"] ?? "message") {
      case "message":
        return messageIn(item);
      case "function_call":
        return [
          {
            role: "assistant",
            call: { name: wordIn(item["name"]), input: argumentsIn(item["arguments"]) },
          },
        ];
      case "function_call_output":
        return [{ role: "user", result: textIn(item["output"]) }];
      default:
        return [];
    }
  });
}

function messageIn(item: JsonObject): readonly Said[] {
  const { role } = item;
  const text = textIn(item["content"]);
  return (role === "user" || role === "assistant") && text !== "" ? [{ role, text }] : [];
}

type Item = JsonObject & { readonly type: string; readonly id: string };

export function responsesAnswer(answer: DemoAnswer): object {
  return { ...headOf(answer), status: "completed", output: itemsOf(answer), usage: usageOf(answer) };
}

export function responsesEvents(answer: DemoAnswer): readonly string[] {
  const begun = { ...headOf(answer), status: "in_progress", output: [], usage: null };
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...itemsOf(answer).flatMap((item, at) => itemEvents(item, at)),
    { type: "response.completed", response: responsesAnswer(answer) },
  ];
  return events.map((event, at) => {
    return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`;
  });
}

type Event = { readonly type: string; readonly [field: string]: unknown };

function itemEvents(item: Item, at: number): readonly Event[] {
  const place = { output_index: at };
  const open = { ...item, status: "in_progress", ...(item.type === "message" ? { content: [] } : {}) };
  return [
    { type: "response.output_item.added", ...place, item: open },
    ...(item.type === "message" ? textEvents(item, at) : argumentEvents(item, at)),
    { type: "response.output_item.done", ...place, item },
  ];
}

function textEvents(item: Item, at: number): readonly Event[] {
  const place = { item_id: item.id, output_index: at, content_index: 0 };
  const [part] = objectsIn(item["content"]);
  const text = wordIn(part?.["text"]);
  return [
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    ...piecesOf(text).map((delta) => ({ type: "response.output_text.delta", ...place, delta })),
    { type: "response.output_text.done", ...place, text },
    { type: "response.content_part.done", ...place, part },
  ];
}

function argumentEvents(item: Item, at: number): readonly Event[] {
  const place = { item_id: item.id, output_index: at };
  const written = wordIn(item["arguments"]);
  return [
    { type: "response.function_call_arguments.delta", ...place, delta: written },
    { type: "response.function_call_arguments.done", ...place, arguments: written },
  ];
}

function itemsOf({ id, text, calls }: DemoAnswer): readonly Item[] {
  const content = [{ type: "output_text", text, annotations: [] }];
  const message = { type: "message", id: `msg_${id}`, status: "completed", role: "assistant", content };
  const called = calls.map((call) => ({
    type: "function_call",
    id: `fc_${call.id}`,
    call_id: `call_${call.id}`,
    name: call.name,
    arguments: JSON.stringify(call.input),
    status: "completed",
  }));
  return text === "" ? called : [message, ...called];
}

function headOf({ id }: DemoAnswer): object {
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1_000),
    model: demoModelName,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
  };
}

function usageOf({ usage: { input, output } }: DemoAnswer): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
