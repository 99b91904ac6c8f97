import type { JsonObject } from "../json-text.ts";
import { type DemoAnswer, type DemoItem, demoModelName, demoPieces } from "./demo-agent.ts";
import { argumentsIn, contentText, objectsIn, stringIn } from "./json-values.ts";

/** Reads a conversation of the Chat Completions API. */
export function readChat(body: JsonObject): readonly DemoItem[] {
  return objectsIn(body["messages"]).flatMap((message): readonly DemoItem[] => {
    const text = contentText(message["content"]);
    switch (message["role"]) {
      case "user":
        return [{ role: "user", text }];
      case "tool":
        return [{ role: "user", result: text }];
      case "assistant":
        return [...(text === "" ? [] : [{ role: "assistant" as const, text }]), ...callsIn(message)];
      default:
        return [];
    }
  });
}

function callsIn(message: JsonObject): readonly DemoItem[] {
  return objectsIn(message["tool_calls"]).map((call) => {
    const { name, arguments: json } = (call["function"] ?? {}) as JsonObject; // each field is checked below
    return { role: "assistant", call: { name: stringIn(name), input: argumentsIn(json) } };
  });
}

export function chatAnswer(answer: DemoAnswer): object {
  const calls = answer.calls.map(callOf);
  const message = {
    role: "assistant",
    content: answer.text === "" ? null : answer.text,
    refusal: null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...headOf(answer, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: reasonOf(answer) }],
    usage: usageOf(answer),
  };
}

export function chatEvents(answer: DemoAnswer, body: JsonObject): readonly string[] {
  const head = headOf(answer, "chat.completion.chunk");
  const chunk = (delta: object, reason: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  const options = (body["stream_options"] ?? {}) as JsonObject; // one flag of it is read
  const chunks = [
    chunk({ role: "assistant", content: "" }),
    ...demoPieces(answer.text).map((content) => chunk({ content })),
    ...answer.calls.map((call, index) => chunk({ tool_calls: [{ index, ...callOf(call) }] })),
    chunk({}, reasonOf(answer)),
    ...(options["include_usage"] === true ? [{ ...head, choices: [], usage: usageOf(answer) }] : []),
  ];
  return [...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), "data: [DONE]\n\n"];
}

function headOf({ id }: DemoAnswer, object: string): object {
  return {
    id: `chatcmpl-${id}`,
    object,
    created: Math.floor(Date.now() / 1_000),
    model: demoModelName,
  };
}

function callOf({ id, name, input }: DemoAnswer["calls"][number]): object {
  return { id: `call_${id}`, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

function reasonOf({ calls }: DemoAnswer): string {
  return calls.length === 0 ? "stop" : "tool_calls";
}

function usageOf({ usage: { input, output } }: DemoAnswer): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
