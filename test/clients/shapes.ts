import { isRelayed } from "./compare.ts";
import { bodyOf, type Exchange } from "./tap.ts";
import { headerOf } from "./wire-bytes.ts";

type Fields = Readonly<{ [name: string]: unknown }>;

/**
 * The shape that all runs of a script share: no ids, no times, no folders. There is one list per agent,
 * because parallel agents do not take turns; parallel counts have no order at all, so they are sorted.
 */
export function shapesOf(exchanges: readonly Exchange[]): Readonly<{ [agent: string]: readonly string[] }> {
  const relayed = exchanges.filter(isRelayed);
  const agents = [...new Set(relayed.map(agentOf))].filter((id) => id !== null);
  const counts = relayed.filter(isCount);
  const turns = relayed.filter((exchange) => !isCount(exchange));
  const byAgent = agents.map((id, index) => [
    `agent ${index + 1}`,
    turns.filter((exchange) => agentOf(exchange) === id).map(shapeOf),
  ]);
  return {
    main: turns.filter((exchange) => agentOf(exchange) === null).map(shapeOf),
    ...Object.fromEntries(byAgent),
    counts: counts.map(shapeOf).sort(),
  };
}

export function isCount({ target }: Exchange): boolean {
  return target.startsWith("/v1/messages/count_tokens");
}

export function agentOf({ request }: Exchange): string | null {
  return headerOf(request, "x-claude-code-agent-id");
}

function shapeOf(exchange: Exchange): string {
  const body = bodyOf(exchange);
  const head = `${exchange.method} ${exchange.target} ${exchange.status}`;
  if (body === null) return head;
  const messages = listOf(body["messages"]).map(messageShape).join(" ");
  const tools = listOf(body["tools"]).map(({ name }) => String(name));
  return `${head} ${Object.keys(body).join(",")} | tools ${tools.join(",")} | ${messages}`;
}

/** A message with one text has the same shape as a string and as a list. */
export function messageShape({ role, content }: Fields): string {
  const blocks = typeof content === "string" ? ["text"] : listOf(content).map(blockShape);
  return `${role}(${blocks.join(",")})`;
}

function blockShape({ type, name }: Fields): string {
  return typeof name === "string" ? `${type}:${name}` : String(type);
}

export function messagesOf(exchange: Exchange): readonly Fields[] {
  return listOf(bodyOf(exchange)?.["messages"]);
}

export function listOf(value: unknown): readonly Fields[] {
  // Lists in these bodies hold objects; a field that is missing in one reads as undefined.
  return Array.isArray(value) ? (value as readonly Fields[]) : [];
}
