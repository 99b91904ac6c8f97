// A scripted model behind the real proxy, and a client that checks its answers.
import { afterAll, expect } from "vitest";
import {
  type FaultChooser,
  type ModelReply,
  type StrictUpstream,
  startStrictUpstream,
  type UpstreamExchange,
} from "../../src/testing/index.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type ParsedAnswer, parseAnswer } from "../support/parse-answer.ts";
import { rejections, TestClient, type TestClientOptions } from "../support/test-client.ts";

export type ReplyPart = ModelReply["content"][number];

export const text = (words: string): ReplyPart => ({ type: "text", text: words });
export const think = (words: string): ReplyPart => ({ type: "thinking", thinking: words });
export const call = (name: string, input: Record<string, unknown> = {}): ReplyPart =>
  ({ type: "tool_use", name, input }) as ReplyPart;
/** A call of our tools that changes nothing and is always allowed. */
export const ours = (verb = "manifest"): ReplyPart => call("aperture_read", { verb });
export const theirs = (n = 1): ReplyPart => call("look", { n });

export type Scene = {
  readonly app: TestApp;
  /** The upstream's exchanges since the scene began. */
  readonly exchanges: () => readonly UpstreamExchange[];
  readonly bodies: () => readonly Buffer[];
};

type SceneScript = {
  readonly replies: readonly (ModelReply | readonly ReplyPart[])[];
  readonly fault?: FaultChooser;
};

let running: { readonly upstream: StrictUpstream; readonly app: TestApp } | null = null;
let play: SceneScript = { replies: [] };
let samplings = 0;

/** Call it once in every file that plays scenes. */
export function closeAfterAll(): void {
  afterAll(async () => {
    const ended = running;
    running = null;
    await ended?.app.remove();
    await ended?.upstream.close();
  });
}

/** Answers each sampling with the next reply. One Aperture serves all scenes of a file. */
export async function scene(
  replies: SceneScript["replies"],
  fault: FaultChooser = () => null,
): Promise<Scene> {
  running ??= await start();
  const { app, upstream } = running;
  play = { replies, fault };
  samplings = 0;
  const before = upstream.exchanges.length;
  const exchanges = () => upstream.exchanges.slice(before);
  return { app, exchanges, bodies: () => exchanges().map(({ body }) => body) };
}

async function start(): Promise<NonNullable<typeof running>> {
  const upstream = await startStrictUpstream({
    compress: true,
    fault: (request) => play.fault?.(request) ?? null,
    model: () => {
      samplings += 1;
      const reply = play.replies[samplings - 1] ?? [text("nothing more")];
      return "content" in reply ? reply : { content: reply };
    },
  });
  const limits = { planMs: 30_000, pingMs: 100 };
  const app = await startTestApp(upstream.url, { mode: "auto", deadlineMs: 20_000, limits });
  return { upstream, app };
}

export const forms = [
  ["streamed", { stream: true }],
  ["in one piece", {}],
] as const satisfies readonly (readonly [string, Readonly<Record<string, unknown>>])[];

/** A client whose requests are large enough to be managed at once. */
export function newTalker(
  more: Readonly<Record<string, unknown>>,
  options: TestClientOptions = {},
): TestClient {
  return new TestClient({ bulk: 80_000, more, ...options });
}

/** Plays turns and checks that none is refused and none shows the client anything of ours. */
export async function playTurns(
  { app, exchanges }: Scene,
  talker: TestClient,
  count: number,
): Promise<readonly ParsedAnswer[]> {
  const answers: ParsedAnswer[] = [];
  for (let n = 0; n < count; n += 1) {
    const answer = await talker.turn(app.url, `question ${n}`);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
    answers.push(parseAnswer(answer));
    await app.recorded();
  }
  expect(rejections(exchanges())).toEqual([]);
  expect(app.proxy.metrics()).toMatchObject({ plannerFaults: 0, recorderFaults: 0 });
  expect(JSON.stringify(talker.messages)).not.toContain("aperture");
  expect(await rolesIn(app)).toEqual(["turn"]);
  return answers;
}

/** The roles that the log gives the requests of the newest session. */
async function rolesIn({ engine }: TestApp): Promise<readonly string[]> {
  const page = await engine.ask({ type: "requests", session: "last", after: 0, limit: 100 });
  return page.ok ? [...new Set(page.value.rows.map(({ role }) => role))] : [page.error.message];
}

/** The blocks of an answer, each in a word or two. */
export function shapeOf({ content }: Pick<ParsedAnswer, "content">): readonly string[] {
  return content.map((block) => {
    const words = block["text"] ?? block["thinking"] ?? block["name"];
    return words === undefined ? block.type : `${block.type} ${words}`;
  });
}

/** The size of a prompt, as the upstream counted it. */
export function promptOf(usage: Readonly<Record<string, unknown>> | null | undefined): number {
  const names = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
  return names.reduce((sum, name) => sum + Number(usage?.[name] ?? 0), 0);
}
