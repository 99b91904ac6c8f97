import { randomUUID } from "node:crypto";
import { ruleAgent } from "../agent.ts";
import { bytesPerToken } from "../cache.ts";
import type { JsonObject } from "../json-text.ts";
import { modelRules } from "../models.ts";
import type { ScriptedModel } from "../reply.ts";
import type { Block, ParsedMessage, ParsedRequest } from "../request.ts";

/** The name under which it is asked for, in every protocol. */
export const demoModelName = "aperture-demo";

/** Whose rules it has, where a protocol has rules by model: those of a row of its own. */
export const demoModelLike = "strict-demo-1";

const fallback = [
  "This is aperture-demo, the scripted model inside Aperture: no key, no network, and no thought.",
  "It does what the lines of a prompt spell out: `say WORDS`, or `call TOOL {JSON}`.",
].join(" ");

export const demoAgent: ScriptedModel = ruleAgent({ fallback });

/** What was said in a conversation, whatever the protocol it was read from. */
export type Said =
  | { readonly role: "user" | "assistant"; readonly text: string }
  | { readonly role: "assistant"; readonly call: { readonly name: string; readonly input: JsonObject } }
  | { readonly role: "user"; readonly result: string };

export type DemoCall = { readonly id: string; readonly name: string; readonly input: JsonObject };

/** What the model says to it, in words that every protocol has. */
export type DemoAnswer = {
  readonly id: string;
  readonly text: string;
  readonly calls: readonly DemoCall[];
  readonly usage: { readonly input: number; readonly output: number };
};

export async function demoAnswer(said: readonly Said[], bodyBytes: number): Promise<DemoAnswer> {
  const { content } = await demoAgent(requestOf(said), 0);
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

/** Unique for good: clients and Aperture know calls again by their ids. */
function newId(): string {
  return randomUUID().replaceAll("-", "").slice(0, 20);
}

/** Pieces of a text as a model would send them, for the protocols that stream. */
export function piecesOf(text: string): readonly string[] {
  return text.match(/[\s\S]{1,40}(?=\s|$)|[\s\S]{1,40}/g) ?? [];
}

function requestOf(said: readonly Said[]): ParsedRequest {
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
    messages: messagesOf(said),
    thinking: null,
    stream: false,
    maxTokens: null,
    body: {},
    numbers: new Map(),
    unknownFields: [],
  };
}

/** What one side says in a row is one message: calls made side by side are one turn. */
function messagesOf(said: readonly Said[]): readonly ParsedMessage[] {
  const messages: { role: "user" | "assistant"; content: Block[] }[] = [];
  for (const each of said) {
    const last = messages.at(-1);
    if (last?.role === each.role) last.content.push(blockOf(each));
    else messages.push({ role: each.role, content: [blockOf(each)] });
  }
  return messages.map((message) => ({ ...message, asSent: {} }));
}

function blockOf(said: Said): Block {
  if ("text" in said) return { type: "text", text: said.text };
  return "call" in said ? { type: "tool_use", ...said.call } : { type: "tool_result", content: said.result };
}
