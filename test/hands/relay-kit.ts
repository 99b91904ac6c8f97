// A model that says what a test tells it, behind the real proxy, and a client that looks at what it gets.
import { afterAll, expect } from "vitest";
import {
  type FaultChooser,
  type Reply,
  type StrictUpstream,
  startStrictUpstream,
  type UpstreamExchange,
} from "../../src/testing/index.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type Heard, heardIn } from "../support/heard.ts";
import { rejections, Talker, type TalkOptions } from "../support/talker.ts";

export type Said = Reply["content"][number];

export const text = (words: string): Said => ({ type: "text", text: words });
export const think = (words: string): Said => ({ type: "thinking", thinking: words });
export const call = (name: string, input: Record<string, unknown> = {}): Said =>
  ({ type: "tool_use", name, input }) as Said;
/** Changes nothing, and is always possible. */
export const ours = (verb = "manifest"): Said => call("aperture_read", { verb });
export const theirs = (n = 1): Said => call("look", { n });

export type Scene = {
  readonly app: TestApp;
  /** What the upstream was asked since the scene began. */
  readonly exchanges: () => readonly UpstreamExchange[];
  readonly bodies: () => readonly Buffer[];
};

type Play = { readonly replies: readonly (Reply | readonly Said[])[]; readonly fault?: FaultChooser };

let running: { readonly upstream: StrictUpstream; readonly app: TestApp } | null = null;
let play: Play = { replies: [] };
let sampled = 0;

/** To be called once by every file that plays scenes. */
export function endsScenes(): void {
  afterAll(async () => {
    const ended = running;
    running = null;
    await ended?.app.remove();
    await ended?.upstream.close();
  });
}

/** Every sampling is answered with the next of these. One Aperture serves all scenes of a file. */
export async function scene(replies: Play["replies"], fault: FaultChooser = () => null): Promise<Scene> {
  running ??= await start();
  const { app, upstream } = running;
  play = { replies, fault };
  sampled = 0;
  const before = upstream.exchanges.length;
  const exchanges = () => upstream.exchanges.slice(before);
  return { app, exchanges, bodies: () => exchanges().map(({ body }) => body) };
}

async function start(): Promise<NonNullable<typeof running>> {
  const upstream = await startStrictUpstream({
    compress: true,
    fault: (request) => play.fault?.(request) ?? null,
    model: () => {
      sampled += 1;
      const reply = play.replies[sampled - 1] ?? [text("nothing more")];
      return "content" in reply ? reply : { content: reply };
    },
  });
  const limits = { takeMs: 30_000, pingMs: 100 };
  const app = await startTestApp(upstream.url, { mode: "auto", deadlineMs: 20_000, limits });
  return { upstream, app };
}

export const forms = [
  ["streamed", { stream: true }],
  ["in one piece", {}],
] as const satisfies readonly (readonly [string, Readonly<Record<string, unknown>>])[];

/** Large enough to be managed at once. */
export function talk(more: Readonly<Record<string, unknown>>, options: TalkOptions = {}): Talker {
  return new Talker({ bulk: 80_000, more, ...options });
}

/** So many turns, none of them refused by the upstream and none of them with anything of ours in it. */
export async function turns(
  { app, exchanges }: Scene,
  talker: Talker,
  count: number,
): Promise<readonly Heard[]> {
  const heard: Heard[] = [];
  for (let n = 0; n < count; n += 1) {
    const answer = await talker.turn(app.url, `question ${n}`);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
    heard.push(heardIn(answer));
    await app.recorded();
  }
  expect(rejections(exchanges())).toEqual([]);
  expect(app.proxy.metrics()).toMatchObject({ deskFaults: 0, recorderFaults: 0 });
  expect(JSON.stringify(talker.messages)).not.toContain("aperture");
  expect(await rolesIn(app)).toEqual(["turn"]);
  return heard;
}

/** What the log takes the requests of the newest session for. */
async function rolesIn({ engine }: TestApp): Promise<readonly string[]> {
  const found = await engine.ask({ type: "requests", session: "last", after: 0, limit: 100 });
  return found.ok ? [...new Set(found.value.rows.map(({ role }) => role))] : [found.error.message];
}

/** What an answer consists of, each block in a word or two. */
export function shapeOf({ content }: Pick<Heard, "content">): readonly string[] {
  return content.map((block) => {
    const words = block["text"] ?? block["thinking"] ?? block["name"];
    return words === undefined ? block.type : `${block.type} ${words}`;
  });
}

/** How large a prompt was, as the upstream has counted it. */
export function promptOf(usage: Readonly<Record<string, unknown>> | null | undefined): number {
  const names = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
  return names.reduce((sum, name) => sum + Number(usage?.[name] ?? 0), 0);
}
