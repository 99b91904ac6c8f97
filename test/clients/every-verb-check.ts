import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { RunningApp } from "../../src/cli/app/app.ts";
import type { UpstreamExchange } from "../../src/testing/index.ts";
import { prefixBreaks } from "../support/test-client.ts";
import { archiveReason, verbs } from "./every-verb-script.ts";
import { holdsOurs, leaksIn, refusedIn } from "./managed-bodies.ts";
import { bodyOf, type Exchange } from "./tap.ts";

type Block = { readonly type: string; readonly [field: string]: unknown };
type RequestBody = { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };

/** A call of our tools with its result. */
export type CommandCall = { readonly verb: string; readonly isError: boolean; readonly result: string };

/** Every call of our tools in a request, each with its result. */
export function commandCallsIn({ body }: Pick<UpstreamExchange, "body">): readonly CommandCall[] {
  // Our own upstream has accepted it.
  const { messages } = JSON.parse(body.toString("utf8")) as RequestBody;
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Block[]) : []));
  const results = new Map(
    blocks.filter(({ type }) => type === "tool_result").map((block) => [block["tool_use_id"], block]),
  );
  return blocks
    .filter(({ type, name }) => type === "tool_use" && String(name).startsWith("aperture_"))
    .map(({ id, input }) => {
      const result = results.get(id);
      const { verb } = input as { readonly verb: string };
      return {
        verb,
        isError: result?.["is_error"] === true,
        result: JSON.stringify(result?.["content"] ?? null),
      };
    });
}

/** The commands in all logs as text, and the number of rewrites. */
export type LogSummary = { readonly commands: readonly string[]; readonly rewrites: number };

/** Reads the logs of all sessions once everything is written. */
export async function summarizeLogs({ engine, proxy }: RunningApp): Promise<LogSummary> {
  while (proxy.metrics().active > 0 || engine.status().waitingBytes > 0) await sleep(5);
  const sessions = await engine.ask({ type: "sessions", limit: 100 });
  const commands: string[] = [];
  let rewrites = 0;
  for (const { id } of sessions.ok ? sessions.value.rows : []) {
    const frames = await engine.ask({ type: "frames", session: id, after: 0, limit: 5_000 });
    for (const { cause, deltas } of frames.ok ? frames.value.frames : []) {
      if (cause.type === "command") commands.push(cause.reason);
      rewrites += deltas.filter(({ type }) => type === "epoch-started").length;
    }
  }
  return { commands, rewrites };
}

type PlayedSession = {
  readonly near: readonly Exchange[];
  readonly exchanges: readonly UpstreamExchange[];
  readonly logs: LogSummary;
  /** The client's own transcript of the session. */
  readonly transcript: string;
};

/** Every verb was carried out, nothing was refused, and the client got none of our text. */
export function expectEveryVerb({ near, exchanges, logs, transcript }: PlayedSession): void {
  expect(refusedIn(exchanges)).toEqual([]);
  const turns = exchanges.filter(
    ({ body, target, status }) => status === 200 && isManagedTurn(body) && !target.includes("count_tokens"),
  );
  const calls = commandCallsIn(turns.at(-1) ?? { body: Buffer.from('{"messages":[]}') });
  expect(calls.filter(({ isError }) => isError)).toEqual([]);
  expect([...new Set(calls.map(({ verb }) => verb))].sort()).toEqual([...verbs].sort());
  const logged = logs.commands.join("\n");
  expect(loggedVerbs.filter((verb) => !logged.includes(`@${verb}(`))).toEqual([]);
  // An archive is logged by its reason.
  expect(logged).toContain(archiveReason);
  const nonce = /\[CONTEXT MANIFEST (\w{4,5}) /.exec(String(turns.at(-1)?.body))?.[1] ?? "no nonce";
  const texts = [transcript, ...near.flatMap(({ request, response }) => [request.body, response?.body])];
  const leaks = texts.filter((text) => /aperture_[a-z]/.test(`${text}`) || `${text}`.includes(`[${nonce} `));
  expect(leaks).toEqual([]);
  expect(leaksIn(near)).toEqual([]);
  expect(holdsOurs(transcript)).toBe(false);
  const breaks = prefixBreaks(turns.map(({ body }) => body));
  const own = prefixBreaks(near.filter(isAnsweredTurn).map(({ request }) => request.body));
  console.log(`${turns.length} requests, ${breaks} breaks, ${logs.rewrites} rewrites, ${own} of the client`);
  expect(breaks).toBeLessThanOrEqual(logs.rewrites + own);
}

const loggedVerbs = ["pin", "unpin", "compress", "focus", "create", "update", "expand"];

function isManagedTurn(body: Buffer): boolean {
  return body.includes('"name":"aperture_read","description"');
}

/** An answered turn of the conversation, not a side request of the client. */
function isAnsweredTurn(exchange: Exchange): boolean {
  const tools = bodyOf(exchange)?.["tools"];
  const hasTools = Array.isArray(tools) && tools.length > 0;
  return hasTools && exchange.status === 200 && !exchange.target.includes("count_tokens");
}

/** The size of a prompt, from the figures of its usage. */
export function promptTokens(usage: Readonly<Record<string, unknown>> | null | undefined): number {
  const names = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
  return names.reduce((sum, name) => sum + Number(usage?.[name] ?? 0), 0);
}
