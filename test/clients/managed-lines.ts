import type { UpstreamExchange } from "../../src/testing/index.ts";
import { ownText } from "../support/own-lines.ts";
import { prefixBreaks } from "../support/talker.ts";
import type { Pair } from "./managed-rig.ts";
import { agentOf, isCount, listOf } from "./shapes.ts";
import { bodyOf, type Exchange } from "./tap.ts";

export function isManaged({ body }: UpstreamExchange): boolean {
  return ownText.test(body.toString("utf8"));
}

export function holdsOurs(text: string): boolean {
  return ownText.test(text);
}

/** What the client sent or was given that holds anything of ours. */
export function leaksIn(near: readonly Exchange[]): readonly string[] {
  return near.flatMap(({ method, target, request, response }) => {
    const texts = [request.body, response?.body ?? Buffer.alloc(0)].map((body) => body.toString("utf8"));
    return texts.some(holdsOurs) ? [`${method} ${target}`] : [];
  });
}

/** Turns of the talk: not what is counted, not what is asked beside it, not what asks for a summary. */
export function isTurn({ near }: Pair): boolean {
  const body = bodyOf(near);
  return !isCount(near) && listOf(body?.["tools"]).length > 0 && !asksForSummary(body);
}

/** Claude Code asks for a summary with no mark on what the user says. */
export function asksForSummary(body: ReturnType<typeof bodyOf>): boolean {
  const last = listOf(body?.["messages"]).at(-1);
  const said = JSON.stringify(last?.["content"] ?? "");
  return last?.["role"] === "user" && /Respond with TEXT ONLY/.test(said);
}

/** One list for each agent, the main one under the name `main`. */
export function linesOf(pairs: readonly Pair[]): ReadonlyMap<string, readonly Pair[]> {
  const lines = new Map<string, readonly Pair[]>();
  for (const pair of pairs.filter(isTurn)) {
    const name = agentOf(pair.near) ?? "main";
    lines.set(name, [...(lines.get(name) ?? []), pair]);
  }
  return lines;
}

export function breaksIn(pairs: readonly Pair[]): number {
  return prefixBreaks(pairs.map(({ far }) => far.body));
}

/** Requests that reached the upstream as their client wrote them. */
export function isUntouched({ near, far }: Pair): boolean {
  return near.request.body.equals(far.body);
}

/** What was refused, whether or not the client got to know. */
export function refusedIn(exchanges: readonly UpstreamExchange[]): readonly string[] {
  return exchanges.flatMap(({ status, error }) => (status === 400 ? [error?.message ?? "400"] : []));
}
