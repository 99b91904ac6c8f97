// A conversation with something of everything in it, to be written in other forms and to be edited.
import { must } from "../../src/base/index.ts";
import type { ModelReply } from "../../src/testing/index.ts";
import {
  type ClientBlock,
  type ClientBody,
  type ClientMessage,
  result,
  ScriptedClient,
  type Sent,
  text,
  tool,
  user,
} from "../support/scripted-client.ts";

export const models = ["claude-opus-5-5", "claude-opus-4-8"] as const;
export type SceneModel = (typeof models)[number];

const thinks = (n: number) => ({ type: "thinking", thinking: `thought ${n}` }) as const;
const image = (data: string): ClientBlock => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data },
});
const calls = (id: string, name: string, input: Record<string, string>) =>
  ({ type: "tool_use", id, name, input }) as const;

const cited = {
  type: "text",
  text: "It is said so.",
  citations: [{ type: "char_location", cited_text: "CITED-ONE", document_index: 0 }],
} as const;

const replies: readonly ModelReply[] = [
  {
    content: [
      thinks(1),
      { type: "text", text: "I look at both." },
      calls("c1", "look", { path: "a.txt", token: "INPUT-SECRET", keep: "yes" }),
      calls("c2", "read", { path: "b.txt" }),
    ],
  },
  {
    content: [
      thinks(2),
      { type: "text", text: "[k7f3 turn 2]\nBoth seen, SAID-SECRET included." },
      { type: "text", text: "More follows." },
    ],
  },
  { content: [thinks(3), calls("c3", "look", { path: "c.txt" })] },
  { content: [thinks(4), { type: "raw", block: cited }] },
  { content: [thinks(5), { type: "text", text: "That is ANSWER-FIVE." }] },
  { content: [thinks(6), { type: "text", text: "Seen after the edit." }] },
  { content: [thinks(7), { type: "text", text: "And on." }] },
  { content: [thinks(8), { type: "text", text: "And on again." }] },
];

const prompts: readonly ClientMessage[] = [
  user(text("This is PROMPT-ONE."), image("aW1hZ2Ux"), {
    type: "document",
    source: { type: "text", media_type: "text/plain", data: "DOCUMENT-ONE" },
  }),
  user(result("c1", "RESULT-ONE with RESULT-SECRET"), result("c2", [text("RESULT-TWO"), image("aW1hZ2Uz")])),
  user(text("This is PROMPT-THREE."), text("MIDDLE-THREE"), text("And the end of three.")),
  user(result("c3", "RESULT-THREE", { is_error: false })),
  user(text("This is PROMPT-FIVE with USER-SECRET.")),
];

/** How a client writes down what it says. */
export type Form = (body: ClientBody) => ClientBody;

export type Scene = {
  readonly talk: ScriptedClient;
  /** Everything said so far, the last answer included. */
  readonly body: ClientBody;
  /** The last turn, and the body the client sent for it. */
  readonly last: Sent;
  readonly lastBody: ClientBody;
};

/** Plays the conversation up to its fifth answer, each request written in one form. */
export async function played(model: SceneModel, form: Form): Promise<Scene> {
  const talk = new ScriptedClient(replies);
  const fixed = {
    model,
    // Both ways in which an answer is heard.
    stream: model === "claude-opus-5-5",
    max_tokens: 4000,
    thinking: { type: "adaptive" },
    system: [text("Be careful."), text("SYSTEM-RULES hold.")],
    tools: [tool("look"), tool("read", { description: "Reads with TOOL-WORDS." }), tool("spare")],
  };
  let messages: readonly ClientMessage[] = [];
  let last: Sent | null = null;
  let lastBody: ClientBody = { ...fixed, messages };
  for (const prompt of prompts) {
    messages = [...messages, prompt];
    lastBody = form({ ...fixed, messages });
    last = await talk.post(lastBody);
    messages = [...messages, last.said];
  }
  return { talk, body: { ...fixed, messages }, last: must(last, "the talk has turns"), lastBody };
}

/** This client adds a default to the third call, a number that no program can hold. */
export const withNumber: Form = (body) =>
  mapEach(body, (block) =>
    block["id"] === "c3" ? { ...block, input: { path: "c.txt", limit: "@12345678901234567890" } } : block,
  );

export function blocksOf({ content }: ClientMessage): readonly ClientBlock[] {
  return typeof content === "string" ? [text(content)] : content;
}

/** The message with each block changed, or left out where the change is null. */
export function mapBlocks(
  message: ClientMessage,
  change: (block: ClientBlock, at: number) => ClientBlock | null,
): ClientMessage {
  const changed = blocksOf(message).map(change);
  return { ...message, content: changed.filter((block) => block !== null) };
}

/** The body with each block of its messages changed. */
export function mapEach(body: ClientBody, change: (block: ClientBlock) => ClientBlock | null): ClientBody {
  return { ...body, messages: body.messages.map((message) => mapBlocks(message, change)) };
}

/** The body with one of its messages changed. */
export function mapMessage(
  body: ClientBody,
  at: number,
  change: (message: ClientMessage) => ClientMessage,
): ClientBody {
  return {
    ...body,
    messages: body.messages.map((message, index) => (index === at ? change(message) : message)),
  };
}

/** The body with words replaced wherever they stand. */
export function replaced(body: ClientBody, from: string, to: string): ClientBody {
  return JSON.parse(JSON.stringify(body).replaceAll(from, to)) as ClientBody;
}
