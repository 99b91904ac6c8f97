import { fail, type Json, ok } from "../base/index.ts";
import type { ModelAnswer, ModelRequest, Provider, WireBlock } from "./provider.ts";

/** What a scripted model says: words, blocks, or an answer with all there is to it. */
export type ScriptedReply = string | readonly WireBlock[] | Partial<ModelAnswer>;
export type Script =
  | readonly ScriptedReply[]
  | ((request: ModelRequest, n: number) => ScriptedReply | Promise<ScriptedReply>);

/** A model that says what it was told to, for tests and for trying things without a key. */
export function scriptedProvider(script: Script): Provider & { readonly requests: readonly ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    name: "scripted",
    requests,
    ask: async (request, { heard, signal }) => {
      requests.push(structuredClone(request) as ModelRequest);
      const n = requests.length - 1;
      const reply = typeof script === "function" ? await script(request, n) : script[n];
      if (signal.aborted) return fail("AP_SPACE_CLOSED");
      const answer = answerFrom(reply ?? "I have nothing more to say.", n);
      for (const block of answer.content) if (block.type === "text") heard(String(block["text"]));
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

/** A call in a script. */
export function calling(name: string, input: { readonly [key: string]: Json } = {}): WireBlock {
  return { type: "tool_use", name, input };
}

/** A person in the place of a model: gets the prompt, and says what the agent says, in their own time. */
export function humanProvider(answer: (request: ModelRequest) => Promise<ScriptedReply>): Provider {
  const answerTimeoutMs = Number.POSITIVE_INFINITY;
  return { ...scriptedProvider((request) => answer(request)), name: "human", answerTimeoutMs };
}
