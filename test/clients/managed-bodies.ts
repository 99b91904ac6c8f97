import type { UpstreamExchange } from "../../src/testing/index.ts";
import { ownText } from "../support/own-lines.ts";
import { prefixBreaks } from "../support/test-client.ts";
import type { Pair } from "./managed-rig.ts";
import { agentOf, isCount, listOf } from "./shapes.ts";
import { bodyOf, type Exchange } from "./tap.ts";

export function isManaged({ body }: UpstreamExchange): boolean {
  return ownText.test(body.toString("utf8"));
}

export function holdsOurs(text: string): boolean {
  return ownText.test(text);
}

/** The client's exchanges that hold any of our notes. */
export function leaksIn(near: readonly Exchange[]): readonly string[] {
  return near.flatMap(({ method, target, request, response }) => {
    const texts = [request.body, response?.body ?? Buffer.alloc(0)].map((body) => body.toString("utf8"));
    return texts.some(holdsOurs) ? [`${method} ${target}`] : [];
  });
}

/** A turn of the conversation: no count, no side request, no request for a summary. */
export function isTurn({ near }: Pair): boolean {
  const body = bodyOf(near);
  return !isCount(near) && listOf(body?.["tools"]).length > 0 && !asksForSummary(body);
}

/** True for Claude Code's request for a summary, known by its prompt. */
export function asksForSummary(body: ReturnType<typeof bodyOf>): boolean {
  const last = listOf(body?.["messages"]).at(-1);
  const content = JSON.stringify(last?.["content"] ?? "");
  return last?.["role"] === "user" && /Respond with TEXT ONLY/.test(content);
}

/** The turns of each agent; those of the main one under the name `main`. */
export function turnsByAgent(pairs: readonly Pair[]): ReadonlyMap<string, readonly Pair[]> {
  const turns = new Map<string, readonly Pair[]>();
  for (const pair of pairs.filter(isTurn)) {
    const name = agentOf(pair.near) ?? "main";
    turns.set(name, [...(turns.get(name) ?? []), pair]);
  }
  return turns;
}

export function breaksIn(pairs: readonly Pair[]): number {
  return prefixBreaks(pairs.map(({ far }) => far.body));
}

/** True if the request reached the upstream unchanged. */
export function isUntouched({ near, far }: Pair): boolean {
  return near.request.body.equals(far.body);
}

/** The upstream's refusals, also those that the client never saw. */
export function refusedIn(exchanges: readonly UpstreamExchange[]): readonly string[] {
  return exchanges.flatMap(({ status, error }) => (status === 400 ? [error?.message ?? "400"] : []));
}
