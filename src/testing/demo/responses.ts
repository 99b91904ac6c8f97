import type { JsonObject } from "../json-text.ts";
import { type DemoAnswer, type DemoItem, demoModelName, demoPieces } from "./demo-agent.ts";
import { argumentsIn, contentText, objectsIn, stringIn } from "./json-values.ts";

/** Reads a conversation of the Responses API. */
export function readResponses(body: JsonObject): readonly DemoItem[] {
  const { input } = body;
  if (typeof input === "string") return [{ role: "user", text: input }];
  return objectsIn(input).flatMap((item): readonly DemoItem[] => {
    switch (item["type"] ?? "message") {
      case "message":
        return messageIn(item);
      case "function_call":
        return [
          {
            role: "assistant",
            call: { name: stringIn(item["name"]), input: argumentsIn(item["arguments"]) },
          },
        ];
      case "function_call_output":
        return [{ role: "user", result: contentText(item["output"]) }];
      default:
        return [];
    }
  });
}

function messageIn(item: JsonObject): readonly DemoItem[] {
  const { role } = item;
  const text = contentText(item["content"]);
  return (role === "user" || role === "assistant") && text !== "" ? [{ role, text }] : [];
}

type ResponseItem = JsonObject & { readonly type: string; readonly id: string };

export function responsesAnswer(answer: DemoAnswer): object {
  return { ...headOf(answer), status: "completed", output: itemsOf(answer), usage: usageOf(answer) };
}

export function responsesEvents(answer: DemoAnswer): readonly string[] {
  const started = { ...headOf(answer), status: "in_progress", output: [], usage: null };
  const events = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
    ...itemsOf(answer).flatMap((item, at) => itemEvents(item, at)),
    { type: "response.completed", response: responsesAnswer(answer) },
  ];
  return events.map((event, at) => {
    return `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`;
  });
}

type ResponseEvent = { readonly type: string; readonly [field: string]: unknown };

function itemEvents(item: ResponseItem, at: number): readonly ResponseEvent[] {
  const position = { output_index: at };
  const open = { ...item, status: "in_progress", ...(item.type === "message" ? { content: [] } : {}) };
  return [
    { type: "response.output_item.added", ...position, item: open },
    ...(item.type === "message" ? textEvents(item, at) : argumentEvents(item, at)),
    { type: "response.output_item.done", ...position, item },
  ];
}

function textEvents(item: ResponseItem, at: number): readonly ResponseEvent[] {
  const position = { item_id: item.id, output_index: at, content_index: 0 };
  const [part] = objectsIn(item["content"]);
  const text = stringIn(part?.["text"]);
  return [
    { type: "response.content_part.added", ...position, part: { ...part, text: "" } },
    ...demoPieces(text).map((delta) => ({ type: "response.output_text.delta", ...position, delta })),
    { type: "response.output_text.done", ...position, text },
    { type: "response.content_part.done", ...position, part },
  ];
}

function argumentEvents(item: ResponseItem, at: number): readonly ResponseEvent[] {
  const position = { item_id: item.id, output_index: at };
  const json = stringIn(item["arguments"]);
  return [
    { type: "response.function_call_arguments.delta", ...position, delta: json },
    { type: "response.function_call_arguments.done", ...position, arguments: json },
  ];
}

function itemsOf({ id, text, calls }: DemoAnswer): readonly ResponseItem[] {
  const content = [{ type: "output_text", text, annotations: [] }];
  const message = { type: "message", id: `msg_${id}`, status: "completed", role: "assistant", content };
  const callItems = calls.map((call) => ({
    type: "function_call",
    id: `fc_${call.id}`,
    call_id: `call_${call.id}`,
    name: call.name,
    arguments: JSON.stringify(call.input),
    status: "completed",
  }));
  return text === "" ? callItems : [message, ...callItems];
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
