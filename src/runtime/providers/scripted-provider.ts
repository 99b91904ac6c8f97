import { fail, type Json, ok } from "../../base/index.ts";
import type { ModelAnswer, ModelRequest, Provider, WireBlock } from "../provider.ts";

/** One answer of a scripted model: a text, blocks, or fields of a whole answer. */
export type ScriptedReply = string | readonly WireBlock[] | Partial<ModelAnswer>;
export type Script =
  | readonly ScriptedReply[]
  | ((request: ModelRequest, n: number) => ScriptedReply | Promise<ScriptedReply>);

/** A provider that gives scripted answers, for tests and for trying things without a key. */
export function scriptedProvider(script: Script): Provider & { readonly requests: readonly ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    name: "scripted",
    requests,
    ask: async (request, { onText, signal }) => {
      requests.push(structuredClone(request) as ModelRequest);
      const n = requests.length - 1;
      const reply = typeof script === "function" ? await script(request, n) : script[n];
      if (signal.aborted) return fail("AP_SPACE_CLOSED");
      const answer = answerFrom(reply ?? "I have nothing more to say.", n);
      for (const block of answer.content) if (block.type === "text") onText(String(block["text"]));
      return ok(answer);
    },
  };
}

function answerFrom(reply: ScriptedReply, n: number): ModelAnswer {
  const { content = [], ...rest } = partsOf(reply);
  const named = content.map((block, at) =>
    block.type === "tool_use" && block["id"] === undefined
      ? { ...block, id: `toolu_script_${n}_${at}` }
      : block,
  );
  const stop = named.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  return { stop, usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }, ...rest, content: named };
}

function partsOf(reply: ScriptedReply): Partial<ModelAnswer> {
  if (typeof reply === "string") return { content: [{ type: "text", text: reply }] };
  return Array.isArray(reply) ? { content: reply as readonly WireBlock[] } : (reply as Partial<ModelAnswer>);
}

/** A tool call as a block of a scripted answer. */
export function toolCall(name: string, input: { readonly [key: string]: Json } = {}): WireBlock {
  return { type: "tool_use", name, input };
}

/** A provider that lets a person answer: `answer` gets the prompt and may take as long as it needs. */
export function humanProvider(answer: (request: ModelRequest) => Promise<ScriptedReply>): Provider {
  const answerTimeoutMs = Number.POSITIVE_INFINITY;
  return { ...scriptedProvider((request) => answer(request)), name: "human", answerTimeoutMs };
}
