import { isObject, type JsonObject } from "../json-text.ts";
import { type DemoAnswer, type DemoItem, demoPieces } from "./demo-agent.ts";
import { contentText, objectsIn, stringIn } from "./json-values.ts";

/** Reads a conversation of Bedrock's Converse API. */
export function readConverse(body: JsonObject): readonly DemoItem[] {
  return objectsIn(body["messages"]).flatMap((message) => {
    const role = message["role"] === "assistant" ? "assistant" : "user";
    return objectsIn(message["content"]).flatMap((block): readonly DemoItem[] => {
      const { text, toolUse: call, toolResult: result } = block;
      if (isObject(call)) return [{ role: "assistant", call: callIn(call) }];
      if (isObject(result)) return [{ role: "user", result: contentText(result["content"]) }];
      return stringIn(text) === "" ? [] : [{ role, text: stringIn(text) }];
    });
  });
}

function callIn({ name, input }: JsonObject): { readonly name: string; readonly input: JsonObject } {
  return { name: stringIn(name), input: isObject(input) ? input : {} };
}

export function converseAnswer(answer: DemoAnswer): object {
  const texts = answer.text === "" ? [] : [{ text: answer.text }];
  const calls = answer.calls.map(({ id, name, input }) => ({
    toolUse: { toolUseId: `tooluse_${id}`, name, input },
  }));
  return {
    output: { message: { role: "assistant", content: [...texts, ...calls] } },
    stopReason: reasonOf(answer),
    usage: usageOf(answer),
    metrics: { latencyMs: 1 },
  };
}

export type ConverseEvent = { readonly name: string; readonly payload: object };

export function demoConverseEvents(answer: DemoAnswer): readonly ConverseEvent[] {
  const text = answer.text === "" ? [] : textEvents(answer.text);
  const first = text.length === 0 ? 0 : 1;
  return [
    { name: "messageStart", payload: { role: "assistant" } },
    ...text,
    ...answer.calls.flatMap(({ id, name, input }, at) => {
      const contentBlockIndex = first + at;
      const start = { toolUse: { toolUseId: `tooluse_${id}`, name } };
      const delta = { toolUse: { input: JSON.stringify(input) } };
      return [
        { name: "contentBlockStart", payload: { contentBlockIndex, start } },
        { name: "contentBlockDelta", payload: { contentBlockIndex, delta } },
        { name: "contentBlockStop", payload: { contentBlockIndex } },
      ];
    }),
    { name: "messageStop", payload: { stopReason: reasonOf(answer) } },
    { name: "metadata", payload: { usage: usageOf(answer), metrics: { latencyMs: 1 } } },
  ];
}

function textEvents(text: string): readonly ConverseEvent[] {
  const pieces = demoPieces(text).map((piece) => ({
    name: "contentBlockDelta",
    payload: { contentBlockIndex: 0, delta: { text: piece } },
  }));
  return [...pieces, { name: "contentBlockStop", payload: { contentBlockIndex: 0 } }];
}

function reasonOf({ calls }: DemoAnswer): string {
  return calls.length === 0 ? "end_turn" : "tool_use";
}

function usageOf({ usage: { input, output } }: DemoAnswer): object {
  return { inputTokens: input, outputTokens: output, totalTokens: input + output };
}
