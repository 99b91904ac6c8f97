import { isObject, type JsonObject } from "../json-text.ts";
import { type DemoAnswer, demoModelName, piecesOf, type Said } from "./talk.ts";
import { objectsIn, wordIn } from "./values.ts";

/** The Gemini API. */
export function readGemini(body: JsonObject): readonly Said[] {
  return objectsIn(body["contents"]).flatMap((content) => {
    const role = content["role"] === "model" ? "assistant" : "user";
    return objectsIn(content["parts"]).flatMap((part): readonly Said[] => {
      const { text, functionCall: call, functionResponse: result } = part;
      if (isObject(call)) return [{ role: "assistant", call: callIn(call) }];
      if (isObject(result)) return [{ role: "user", result: JSON.stringify(result["response"] ?? {}) }];
      return wordIn(text) === "" || part["thought"] === true ? [] : [{ role, text: wordIn(text) }];
    });
  });
}

function callIn({ name, args }: JsonObject): { readonly name: string; readonly input: JsonObject } {
  return { name: wordIn(name), input: isObject(args) ? args : {} };
}

export function geminiAnswer(answer: DemoAnswer): object {
  const texts = answer.text === "" ? [] : [{ text: answer.text }];
  return partial(answer, [...texts, ...callsOf(answer)], true);
}

/** A list of answers, each with what is new. */
export function geminiPieces(answer: DemoAnswer): readonly object[] {
  const pieces = piecesOf(answer.text).map((text) => partial(answer, [{ text }], false));
  return [...pieces, partial(answer, callsOf(answer), true)];
}

function callsOf({ calls }: DemoAnswer): readonly object[] {
  return calls.map(({ name, input }) => ({ functionCall: { name, args: input } }));
}

function partial(answer: DemoAnswer, parts: readonly object[], isLast: boolean): object {
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
