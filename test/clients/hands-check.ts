import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { RunningApp } from "../../src/cli/index.ts";
import type { UpstreamExchange } from "../../src/testing/index.ts";
import { prefixBreaks } from "../support/talker.ts";
import { archiveReason, verbs } from "./hands-script.ts";
import { holdsOurs, leaksIn, refusedIn } from "./managed-lines.ts";
import { bodyOf, type Exchange } from "./tap.ts";

type Block = { readonly type: string; readonly [field: string]: unknown };
type Sent = { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };

/** What became of a call of ours, as the model was told. */
export type Carried = { readonly verb: string; readonly isError: boolean; readonly told: string };

/** Every call of ours that a request holds, each with its result. */
export function carriedIn({ body }: Pick<UpstreamExchange, "body">): readonly Carried[] {
  // Our own upstream has accepted it.
  const { messages } = JSON.parse(body.toString("utf8")) as Sent;
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
        told: JSON.stringify(result?.["content"] ?? null),
      };
    });
}

/** What logs say: what was commanded, in the words of the commands, and how often something was rewritten. */
export type Logged = { readonly commanded: readonly string[]; readonly rewrites: number };

/** What the logs of all sessions say, once all of it is written. */
export async function loggedBy({ engine, proxy }: RunningApp): Promise<Logged> {
  while (proxy.metrics().active > 0 || engine.status().waitingBytes > 0) await sleep(5);
  const sessions = await engine.ask({ type: "sessions", limit: 100 });
  const commanded: string[] = [];
  let rewrites = 0;
  for (const { id } of sessions.ok ? sessions.value.rows : []) {
    const frames = await engine.ask({ type: "frames", session: id, after: 0, limit: 5_000 });
    for (const { cause, deltas } of frames.ok ? frames.value.frames : []) {
      if (cause.type === "command") commanded.push(cause.reason);
      rewrites += deltas.filter(({ type }) => type === "epoch-started").length;
    }
  }
  return { commanded, rewrites };
}

type Played = {
  readonly near: readonly Exchange[];
  readonly exchanges: readonly UpstreamExchange[];
  readonly logged: Logged;
  /** What the client has kept of the session. */
  readonly transcript: string;
};

/** Every verb was carried out, nothing was refused, and the client has nothing of it. */
export function expectEveryVerb({ near, exchanges, logged, transcript }: Played): void {
  expect(refusedIn(exchanges)).toEqual([]);
  const turns = exchanges.filter(
    ({ body, target, status }) => status === 200 && isTurnOfOurs(body) && !target.includes("count_tokens"),
  );
  const carried = carriedIn(turns.at(-1) ?? { body: Buffer.from('{"messages":[]}') });
  expect(carried.filter(({ isError }) => isError)).toEqual([]);
  expect([...new Set(carried.map(({ verb }) => verb))].sort()).toEqual([...verbs].sort());
  const said = logged.commanded.join("\n");
  expect(acting.filter((verb) => !said.includes(`@${verb}(`))).toEqual([]);
  // The reason of an archive stands for it.
  expect(said).toContain(archiveReason);
  const mark = /\[CONTEXT MANIFEST (\w{4,5}) /.exec(String(turns.at(-1)?.body))?.[1] ?? "no mark";
  const kept = [transcript, ...near.flatMap(({ request, response }) => [request.body, response?.body])];
  const leaks = kept.filter((text) => /aperture_[a-z]/.test(`${text}`) || `${text}`.includes(`[${mark} `));
  expect(leaks).toEqual([]);
  expect(leaksIn(near)).toEqual([]);
  expect(holdsOurs(transcript)).toBe(false);
  const breaks = prefixBreaks(turns.map(({ body }) => body));
  const own = prefixBreaks(near.filter(isAnswered).map(({ request }) => request.body));
  console.log(
    `${turns.length} samplings, ${breaks} breaks, ${logged.rewrites} rewrites, ${own} of the client`,
  );
  expect(breaks).toBeLessThanOrEqual(logged.rewrites + own);
}

const acting = ["pin", "unpin", "compress", "focus", "create", "update", "expand"];

function isTurnOfOurs(body: Buffer): boolean {
  return body.includes('"name":"aperture_read","description"');
}

/** A turn of the talk, and not what a client asks beside it. */
function isAnswered(exchange: Exchange): boolean {
  const tools = bodyOf(exchange)?.["tools"];
  const isOfTalk = Array.isArray(tools) && tools.length > 0;
  return isOfTalk && exchange.status === 200 && !exchange.target.includes("count_tokens");
}

/** How large a prompt was, by the figures of its usage. */
export function promptOf(usage: Readonly<Record<string, unknown>> | null | undefined): number {
  const names = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
  return names.reduce((sum, name) => sum + Number(usage?.[name] ?? 0), 0);
}
