import { expect, test } from "vitest";
import { PlannerKit, type Posted } from "../../test/support/planner-kit.ts";
import { must } from "../base/index.ts";
import type { PlannedRequest } from "../exchange/index.ts";
import { protocolOf } from "../protocols/index.ts";

const anthropic = protocolOf({ protocol: "anthropic" });

type Block = { readonly type: string; readonly [field: string]: unknown };
type Message = { readonly role: string; readonly content: readonly Block[] };
type RunOptions = {
  readonly model?: string;
  readonly over?: object;
  readonly isLogin?: boolean;
  /** The length of the reasoning, in repeated phrases. */
  readonly thoughts?: number;
};

const named = { "x-aperture-session": "one" };
const tools = [{ name: "look", description: "looks", input_schema: { type: "object", properties: {} } }];

/** A run that fills a window of 40,000 tokens: one user message, then calls and results. */
class Run {
  readonly kit: PlannerKit;
  messages: readonly Message[] = [{ role: "user", content: [{ type: "text", text: "Find it." }] }];
  readonly #options: RunOptions;

  constructor(options: RunOptions = {}) {
    this.#options = options;
    let n = 0;
    const model = () => {
      n += 1;
      const thinking = `${n} ${"and so it follows ".repeat(options.thoughts ?? 100)}`;
      const call = { type: "tool_use", name: "look", input: { n } } as const;
      return { content: options.thoughts === 0 ? [call] : [{ type: "thinking", thinking } as const, call] };
    };
    this.kit = new PlannerKit({ model, place: { windowOf: () => 40_000, managesLogins: () => true } });
    const { planner } = this.kit;
    const plan = planner.plan.bind(planner);
    planner.plan = (meta, pieces) => plan({ ...meta, isLogin: options.isLogin === true }, pieces);
  }

  body(): object {
    const { model = "claude-opus-5-5", over = {} } = this.#options;
    const cache = { cache_control: { type: "ephemeral" } };
    return { model, max_tokens: 4_000, tools, messages: this.messages, ...cache, ...over };
  }

  async turn(damage?: (chunks: readonly Buffer[]) => readonly Buffer[]): Promise<Posted> {
    const headers = { ...named, "anthropic-beta": anthropic.traits.betaFor("context-edit") };
    const posted = await this.kit.post(this.body(), {
      headers: "context_management" in this.body() ? headers : named,
      ...(damage === undefined ? {} : { damage }),
    });
    expect(posted.attempts.map(({ problem }) => problem)).toEqual([null]);
    const { content } = JSON.parse(posted.body.toString()) as { readonly content: readonly Block[] };
    const results = content
      .filter(({ type }) => type === "tool_use")
      .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: pageOf(String(id)) }));
    this.messages = [...this.messages, { role: "assistant", content }, { role: "user", content: results }];
    return posted;
  }

  /** Sends turns until a rewrite happens. */
  async fill(): Promise<Posted> {
    for (let n = 0; n < 40; n += 1) {
      const posted = await this.turn();
      if ((posted.sending.sent?.epoch ?? null) !== null) return posted;
    }
    throw new Error("the window never filled");
  }
}

function pageOf(id: string): string {
  return Array.from({ length: 200 }, (_, at) => `${id} says ${at} of what was looked for`).join("\n");
}

const bodyOf = ({ attempts }: Posted) => JSON.parse(attempts.at(-1)?.body ?? "{}");
const reasoningCount = (posted: Posted): number => bodyOf(posted).messages.flatMap(reasoningIn).length;
const reasoningIn = ({ content }: Message): readonly Block[] =>
  content.filter(({ type }) => type === "thinking");

test("the provider leaves out the oldest results if a rewrite would lose reasoning", async () => {
  const run = new Run();
  const posted = await run.fill();
  expect(posted.sending.sent?.epoch).toMatchObject({ reason: "pressure", means: "provider" });
  expect(posted.sending.betas).toContain(anthropic.traits.betaFor("context-edit"));
  expect(reasoningCount(posted)).toBe((run.messages.length - 3) / 2);
  const [edit] = bodyOf(posted).context_management.edits;
  const cleared = posted.sending.sent?.fresh.filter((unit) => unit.cleared === true) ?? [];
  expect(cleared.length).toBe(edit.trigger.value);
  expect(cleared.every(({ as }) => as === "placeholder")).toBe(true);
  const next = await run.turn();
  const [again] = bodyOf(next).context_management.edits;
  expect([again.trigger.value, again.keep.value]).toEqual([edit.trigger.value, edit.keep.value + 1]);
  expect(next.answer.usage?.cache_read_input_tokens).toBeGreaterThan(10_000);
});

test.each<[string, RunOptions]>([
  ["a login", { isLogin: true }],
  ["a client with edits of its own", { over: { context_management: { edits: [] } } }],
  ["a model that does not bind its reasoning", { model: "claude-opus-4-8" }],
  ["a model that does not think", { thoughts: 0 }],
])("without provider edits for %s", async (_name, options) => {
  const posted = await new Run(options).fill();
  expect(posted.sending.sent?.epoch).toMatchObject({ reason: "pressure", means: "own" });
  expect(posted.sending.betas).not.toContain(anthropic.traits.betaFor("context-edit"));
  const edits = bodyOf(posted).context_management?.edits ?? [];
  expect(edits).toEqual([]);
});

test("an upstream that refuses an edit is not asked again", async () => {
  const run = new Run();
  await run.fill();
  const body = Buffer.from(JSON.stringify(run.body()));
  const { asking: meta } = await run.turn();
  const { planner } = run.kit;
  const planned = await planner.plan({ ...meta, id: "again" }, [body]);
  const refused = planner.planRetry(
    planned,
    Buffer.from('{"error":{"message":"context_management: Extra inputs"}}'),
  );
  expect(JSON.parse(Buffer.concat(refused?.pieces ?? []).toString())).not.toHaveProperty(
    "context_management",
  );
  expect(refused?.sent?.epoch).toMatchObject({ means: "own" });
});

test("after a refused edit the request is planned from the stream before it", async () => {
  const run = new Run();
  await run.fill();
  const { asking: meta } = await run.turn();
  const body = Buffer.from(JSON.stringify(run.body()));
  const { planner } = run.kit;
  const refused = await planner.plan({ ...meta, id: "next" }, [body]);
  const message = "context_management: Extra inputs";
  const again = must(
    planner.planRetry(refused, Buffer.from(JSON.stringify({ error: { message } }))),
    "it is",
  );
  const manifests = ({ pieces }: PlannedRequest) =>
    [
      ...Buffer.concat(pieces)
        .toString()
        .matchAll(/MANIFEST k7f3 turn (\d+)/g),
    ].map(([, turn]) => Number(turn));
  // The refused request has left nothing behind: this is the same turn, as the log counts it.
  expect(manifests(again)).toEqual(manifests(refused));
  const numbersOf = ({ sent }: PlannedRequest) =>
    new Map(sent?.fresh.map(({ clientIndex, numbered }) => [clientIndex, numbered?.block]));
  const [first, second] = [numbersOf(refused), numbersOf(again)];
  for (const [index, block] of first)
    if (index !== null && second.has(index)) expect(second.get(index)).toBe(block);
});

test("a provider that leaves out other results is not asked again", async () => {
  const run = new Run();
  await run.fill();
  const lie = (chunks: readonly Buffer[]): readonly Buffer[] => [
    Buffer.from(
      Buffer.concat(chunks)
        .toString()
        .replace(/"cleared_tool_uses":\d+/, '"cleared_tool_uses":1'),
    ),
  ];
  expect(bodyOf(await run.turn(lie))).toHaveProperty("context_management");
  const next = await run.turn();
  expect(bodyOf(next)).not.toHaveProperty("context_management");
  expect(next.sending.sent?.epoch).toMatchObject({ reason: "fork", means: "own" });
});
