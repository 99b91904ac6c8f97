import { isObject, type JsonObject } from "../json-text.ts";
import { type DemoAnswer, type DemoItem, demoModelName, demoPieces } from "./demo-agent.ts";
import { objectsIn, stringIn } from "./json-values.ts";

/** Reads a conversation of the Gemini API. */
export function readGemini(body: JsonObject): readonly DemoItem[] {
  return objectsIn(body["contents"]).flatMap((content) => {
    const role = content["role"] === "model" ? "assistant" : "user";
    return objectsIn(content["parts"]).flatMap((part): readonly DemoItem[] => {
      const { text, functionCall: call, functionResponse: result } = part;
      if (isObject(call)) return [{ role: "assistant", call: callIn(call) }];
      if (isObject(result)) return [{ role: "user", result: JSON.stringify(result["response"] ?? {}) }];
      return stringIn(text) === "" || part["thought"] === true ? [] : [{ role, text: stringIn(text) }];
    });
  });
}

function callIn({ name, args }: JsonObject): { readonly name: string; readonly input: JsonObject } {
  return { name: stringIn(name), input: isObject(args) ? args : {} };
}

export function geminiAnswer(answer: DemoAnswer): object {
  const texts = answer.text === "" ? [] : [{ text: answer.text }];
  return partialAnswer(answer, [...texts, ...callsOf(answer)], true);
}

/** A list of partial answers, each with the next piece. */
export function geminiPieces(answer: DemoAnswer): readonly object[] {
  const pieces = demoPieces(answer.text).map((text) => partialAnswer(answer, [{ text }], false));
  return [...pieces, partialAnswer(answer, callsOf(answer), true)];
}

function callsOf({ calls }: DemoAnswer): readonly object[] {
  return calls.map(({ name, input }) => ({ functionCall: { name, args: input } }));
}

function partialAnswer(answer: DemoAnswer, parts: readonly object[], isLast: boolean): object {
  const { input, output } = answer.usage;
  const content = { role: "model", parts: parts.length === 0 ? [{ text: "" }] : parts };
  return {
    candidates: [{ content, index: 0, ...(isLast ? { finishReason: "STOP" } : {}) }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
    modelVersion: demoModelName,
    responseId: answer.id,
  };
}
