import { isDeepStrictEqual } from "node:util";
import type { Frame, RewriteReason } from "../../src/engine/frames/index.ts";
import type { BlockRow, FramesPage, SessionsPage, StateRow } from "../../src/queries/answers/index.ts";
import { jsonIn, type TestApp } from "../support/app.ts";
import { clearedCalls } from "../support/cleared-calls.ts";
import type { TestClient } from "../support/test-client.ts";

export type RecordedRewrite = { readonly exchange: number; readonly reason: RewriteReason };

/** What the log says of the only session of an app: its rewrites, and its blocks as they are shown. */
export async function recordOf(app: TestApp) {
  await app.recorded();
  const [session] = jsonIn<SessionsPage>(await app.api("/sessions")).rows;
  const path = `/sessions/${session?.id}`;
  const { blocks } = jsonIn<StateRow>(await app.api(`${path}/state`));
  return { blocks, rewrites: rewritesIn(await framesOf(app, path)) };
}

async function framesOf(app: TestApp, path: string): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page: FramesPage = jsonIn(await app.api(`${path}/frames?after=${after}&limit=100`));
    frames.push(...page.frames);
    after = page.next;
  }
  return frames;
}

/** A rewrite is written down before the request that it came with. */
function rewritesIn(frames: readonly Frame[]): readonly RecordedRewrite[] {
  const rewrites: RecordedRewrite[] = [];
  let reason: RewriteReason | null = null;
  for (const delta of frames.flatMap(({ deltas }) => deltas)) {
    if (delta.type === "epoch-started") reason = delta.reason;
    if (delta.type !== "exchange-opened" || reason === null) continue;
    rewrites.push({ exchange: delta.exchange.id, reason });
    reason = null;
  }
  return rewrites;
}

type Block = { readonly type: string; readonly [field: string]: unknown };
type Message = { readonly content: readonly Block[] | string };
type Paired = {
  readonly row: BlockRow;
  readonly said: Block;
  readonly sent: Block | undefined;
  /** Whether the provider leaves it out. */
  readonly isCleared: boolean;
};

/** Calls, results and thoughts that the log believes to be shown otherwise than they were sent last. */
export function disagreements(
  rows: readonly BlockRow[],
  talker: TestClient,
  sent: Buffer,
): readonly string[] {
  const body = JSON.parse(sent.toString()) as { readonly messages: readonly Message[] };
  const { messages } = body;
  const cleared = clearedCalls(body);
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const said = talker.messages.flatMap(({ content }) => content);
  const ofKind = (kind: "tool-call" | "tool-result"): readonly string[] => {
    const own = rows.filter((row) => row.kind === kind).toSorted((a, b) => a.n - b.n);
    const client = said.filter(({ type }) => type === (kind === "tool-call" ? "tool_use" : "tool_result"));
    if (own.length !== client.length) return [`${own.length} of ${client.length} are known: ${kind}`];
    return own.flatMap((row, at) => {
      const one = client[at];
      if (one === undefined) return [];
      const isCleared = cleared.has(String(one["tool_use_id"]));
      return disagreement({ row, said: one, sent: sameBlock(blocks, one), isCleared });
    });
  };
  const thoughts = rows.filter(({ kind, shown }) => kind === "reasoning" && shown === "original").length;
  const thinking = blocks.filter(({ type }) => type === "thinking").length;
  const lost = thoughts === thinking ? [] : [`${thoughts} thoughts are shown, and ${thinking} were sent`];
  return [...ofKind("tool-call"), ...ofKind("tool-result"), ...lost];
}

function sameBlock(blocks: readonly Block[], { type, id, tool_use_id: call }: Block): Block | undefined {
  return blocks.find((block) => block.type === type && block["id"] === id && block["tool_use_id"] === call);
}

/** The last answer was never sent; whatever else was says of itself what became of it. */
function disagreement({ row: { n, shown, kind }, said, sent, isCleared }: Paired): readonly string[] {
  if (isCleared) return shown === "placeholder" ? [] : [`#${n} is ${shown}, and the provider leaves it out`];
  if (sent === undefined) return shown === "absent" ? [] : [`#${n} ${kind} is ${shown}, and was not sent`];
  const key = kind === "tool-call" ? "input" : "content";
  const [words, own] = [sent[key], said[key]];
  const isWhole = isDeepStrictEqual(words, own);
  const text = typeof words === "string" ? words : JSON.stringify(words);
  const isNamed = new RegExp(`#${n} .*(?:pruned|${shown})`).test(text) || kind === "tool-call";
  const agrees = shown === "original" ? isWhole : !isWhole && isNamed;
  return agrees ? [] : [`#${n} ${kind} is ${shown}, and says ${text.slice(-160)}`];
}
