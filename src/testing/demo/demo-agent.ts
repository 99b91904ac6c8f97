import { randomUUID } from "node:crypto";
import type { JsonObject } from "../json-text.ts";
import type { ScriptedModel } from "../model-reply.ts";
import { modelRules } from "../model-rules.ts";
import type { ContentBlock, ParsedMessage, ParsedRequest } from "../parsed-request.ts";
import { bytesPerToken } from "../prompt-cache.ts";
import { ruleAgent } from "../rule-agent.ts";

/** The name of the demo model, in every protocol. */
export const demoModelName = "aperture-demo";

/** The name of its row in the model rules. */
export const demoModelLike = "strict-demo-1";

const fallback = [
  "This is aperture-demo, the scripted model inside Aperture: no key, no network, and no thought.",
  "It does what the lines of a prompt spell out: `say WORDS`, or `call TOOL {JSON}`.",
].join(" ");

export const demoAgent: ScriptedModel = ruleAgent({ fallback });

/** One item of a conversation, in any protocol. */
export type DemoItem =
  | { readonly role: "user" | "assistant"; readonly text: string }
  | { readonly role: "assistant"; readonly call: { readonly name: string; readonly input: JsonObject } }
  | { readonly role: "user"; readonly result: string };

export type DemoCall = { readonly id: string; readonly name: string; readonly input: JsonObject };

/** The answer of the model, in terms that every protocol has. */
export type DemoAnswer = {
  readonly id: string;
  readonly text: string;
  readonly calls: readonly DemoCall[];
  readonly usage: { readonly input: number; readonly output: number };
};

export async function answerAsDemo(items: readonly DemoItem[], bodyBytes: number): Promise<DemoAnswer> {
  const { content } = await demoAgent(requestOf(items), 0);
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const calls = content.flatMap((block) =>
    block.type === "tool_use" ? [{ id: newId(), name: block.name, input: block.input }] : [],
  );
  const usage = { input: tokensIn(bodyBytes), output: tokensIn(JSON.stringify({ text, calls }).length) };
  return { id: newId(), text, calls, usage };
}

export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/** Ids are unique forever: clients and Aperture recognise calls by them. */
function newId(): string {
  return randomUUID().replaceAll("-", "").slice(0, 20);
}

/** Cuts a text into pieces as a model would stream it. */
export function demoPieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,40}(?=\s|$)|[\s\S]{1,40}/g) ?? [];
}

function requestOf(items: readonly DemoItem[]): ParsedRequest {
  const rules = modelRules(demoModelLike);
  if (rules === null) throw new Error("the demo model has the rules of a known one");
  return {
    endpoint: "messages",
    model: demoModelName,
    rules,
    version: "",
    betas: new Set(),
    system: [],
    tools: [],
    messages: messagesOf(items),
    thinking: null,
    stream: false,
    maxTokens: null,
    body: {},
    numbers: new Map(),
    unknownFields: [],
  };
}

/** Items of one role in a row are one message: parallel calls are one turn. */
function messagesOf(items: readonly DemoItem[]): readonly ParsedMessage[] {
  const messages: { role: "user" | "assistant"; content: ContentBlock[] }[] = [];
  for (const item of items) {
    const last = messages.at(-1);
    if (last?.role === item.role) last.content.push(blockOf(item));
    else messages.push({ role: item.role, content: [blockOf(item)] });
  }
  return messages.map((message) => ({ ...message, asSent: {} }));
}

function blockOf(item: DemoItem): ContentBlock {
  if ("text" in item) return { type: "text", text: item.text };
  return "call" in item ? { type: "tool_use", ...item.call } : { type: "tool_result", content: item.result };
}
