import type { Json, Random } from "../../src/base/index.ts";
import { type Liberties, libertiesTaken, type Retelling, written } from "./body-variants.ts";
import type { Block, Fields, Message } from "./seen-body.ts";

/** How a client writes what it sends; it keeps its style for the whole conversation. */
export type Style = {
  readonly naming: "asked" | "claude-code" | "asked-agent" | "none";
  readonly marks: "last" | "last-two" | "automatic" | "none";
  readonly lifetime: "5m" | "1h";
  readonly system: "string" | "list" | "absent";
  readonly order: "messages-first" | "messages-last";
  readonly isStreamed: boolean;
  readonly liberties: Liberties;
  readonly retelling: Retelling;
};

export type Mode = "auto" | "observe" | "bypass";

/** What one client program has of its conversation: everything needed to write the next request. */
export type Client = {
  readonly session: string;
  readonly style: Style;
  readonly agent: string | null;
  credential: string;
  model: string;
  mode: Mode;
  tools: readonly Fields[];
  system: readonly string[];
  /** As the client believes it; ends with the user while an answer is missing. */
  history: readonly Message[];
};

export type Wanted = {
  readonly messages: readonly Message[];
  readonly random: Random;
  /** Whether the model's words may be written in another way. */
  readonly mayRewrite: boolean;
  /** A request for a summary marks only what the model said. */
  readonly isSummary?: boolean;
  readonly withoutTools?: boolean;
};

export function headersOf({ session, style, agent, mode }: Client): Readonly<Record<string, string>> {
  const isCode = style.naming === "claude-code" || style.naming === "asked-agent";
  const isAsked = style.naming === "asked" || style.naming === "asked-agent";
  return {
    ...(isCode ? { "x-claude-code-session-id": session, "user-agent": "claude-cli/2.1" } : {}),
    ...(isAsked ? { "x-aperture-session": session } : {}),
    ...(agent === null ? {} : { "x-claude-code-agent-id": agent }),
    ...(mode === "observe" ? { "x-aperture-mode": "observe" } : {}),
    ...(mode === "bypass" ? { "x-aperture-bypass": "1" } : {}),
  };
}

export function bodyOf(client: Client, wanted: Wanted): Buffer {
  const { style, model, tools } = client;
  const { random } = wanted;
  const taken = libertiesTaken(style.liberties, random, { mayRewrite: wanted.mayRewrite, model });
  const retelling = style.liberties === "all" && wanted.mayRewrite ? style.retelling : null;
  const way = { taken, retelling };
  const messages = marked(client, wanted).map((message) => written(message, way, random));
  const system = systemOf(client);
  const common: Record<string, Json> = {
    ...(system === null ? {} : { system }),
    ...(tools.length === 0 || wanted.withoutTools === true ? {} : { tools: [...tools] }),
    max_tokens: 4_000,
    thinking: { type: "adaptive" },
    ...(style.isStreamed ? { stream: true } : {}),
    ...(style.marks === "automatic" && wanted.isSummary !== true ? markOf(style) : {}),
  };
  const body =
    style.order === "messages-first" ? { model, messages, ...common } : { model, ...common, messages };
  return Buffer.from(JSON.stringify(body));
}

function markOf({ lifetime }: Style): { readonly cache_control: Fields } {
  return { cache_control: { type: "ephemeral", ...(lifetime === "1h" ? { ttl: "1h" } : {}) } };
}

function systemOf({ style, system }: Client): Json {
  if (style.system === "absent") return null;
  if (style.system === "string") return system.join("\n");
  const mark = style.marks === "none" || style.marks === "automatic" ? {} : markOf(style);
  return system.map((text, at) => ({ type: "text", text, ...(at === system.length - 1 ? mark : {}) }));
}

/** The messages with the client's marks, each still a list of blocks. */
function marked({ style }: Client, { messages, isSummary = false }: Wanted): readonly Message[] {
  if (style.marks === "none" && !isSummary) return messages;
  if (style.marks === "automatic" && !isSummary) return messages;
  const spoken = messages.flatMap(({ role }, at) => (!isSummary || role === "assistant" ? [at] : []));
  const chosen = new Set(spoken.slice(style.marks === "last" && !isSummary ? -1 : -2));
  return messages.map((message, at) => (chosen.has(at) ? withMark(message, style) : message));
}

/** On the last block that may bear one. */
function withMark({ role, content }: Message, style: Style): Message {
  const last = content.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return {
    role,
    content: content.map((block, at): Block => (at === last ? { ...block, ...markOf(style) } : block)),
  };
}
