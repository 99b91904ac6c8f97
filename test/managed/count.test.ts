// A token count equals the size of the next request without our tail.
import { afterEach, beforeEach, expect, it } from "vitest";
import { type StrictUpstream, startStrictUpstream, type UpstreamExchange } from "../../src/testing/index.ts";
import { type Answer, ask, jsonIn, modelHeaders, startTestApp, type TestApp } from "../support/app.ts";
import { manifestStart } from "../support/own-lines.ts";
import { promptOf, rejections, TestClient } from "../support/test-client.ts";

let upstream: StrictUpstream;
let app: TestApp;

beforeEach(async () => {
  let n = 0;
  upstream = await startStrictUpstream({
    model: ({ thinking }) => {
      n += 1;
      const thought = { type: "thinking", thinking: `thought ${n}` } as const;
      const block =
        n % 3 === 0
          ? ({ type: "text", text: `answer ${n}` } as const)
          : ({ type: "tool_use", name: "look", input: { n } } as const);
      return { content: thinking === null ? [block] : [thought, block] };
    },
  });
  app = await startTestApp(upstream.url, { mode: "auto" });
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

type Body = { readonly max_tokens?: number; readonly messages: readonly { readonly content: unknown }[] };

function count(url: string, body: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const { max_tokens: _, ...rest } = JSON.parse(body.toString()) as Body;
  const target = `${url}/v1/messages/count_tokens`;
  return ask(target, { headers: { ...modelHeaders, ...headers }, body: JSON.stringify(rest) });
}

const lastSent = (): UpstreamExchange | undefined => upstream.exchanges.at(-1);

function betaOf({ rawHeaders }: UpstreamExchange): Readonly<Record<string, string>> {
  const at = rawHeaders.findIndex((name) => name.toLowerCase() === "anthropic-beta");
  return at === -1 ? {} : { "anthropic-beta": rawHeaders[at + 1] ?? "" };
}

/** The body of a turn without the manifest, which belongs to that turn only. */
function withoutTail(body: Buffer): Buffer {
  const { messages, ...rest } = JSON.parse(body.toString()) as Body;
  const last = messages.at(-1);
  const isTail = (block: { readonly text?: string }): boolean => manifestStart.test(block.text ?? "");
  const content = Array.isArray(last?.content) ? last.content.filter((block) => !isTail(block)) : [];
  const kept = content.length === 0 ? [] : [{ ...last, content }];
  return Buffer.from(JSON.stringify({ ...rest, messages: [...messages.slice(0, -1), ...kept] }));
}

it.each(["claude-opus-5-5", "claude-opus-4-8"])(
  "a count equals the next request without its tail: %s",
  async (model) => {
    const client = new TestClient({ model });
    const named = { "x-claude-code-session-id": client.session ?? "" };
    for (let turn = 0; turn < 8; turn += 1) {
      const body = client.body([...client.messages, client.next(`prompt ${turn}`)]);
      // A session that has not begun is not managed yet, so its first request is not compared.
      const counted = turn === 0 ? null : await count(app.url, body, named);
      const countedBody = lastSent()?.body ?? Buffer.alloc(0);
      expect((await client.turn(app.url, `prompt ${turn}`)).status).toBe(200);
      const sent = lastSent();
      if (counted === null || sent === undefined) continue;
      const tailless = withoutTail(sent.body);
      expect(tailless.length).toBeLessThan(sent.body.length);
      expect(promptOf(countedBody), `turn ${turn}`).toEqual(promptOf(tailless));
      const truth = await count(upstream.url, tailless, betaOf(sent));
      expect([counted.status, truth.status]).toEqual([200, 200]);
      expect(jsonIn(counted)).toEqual(jsonIn(truth));
    }
    expect(rejections(upstream.exchanges)).toEqual([]);
  },
);

it("a count of a single tool passes unchanged, and does not affect the session", async () => {
  const client = new TestClient();
  const named = { "x-claude-code-session-id": client.session ?? "" };
  await client.turn(app.url, "prompt");
  for (let n = 0; n < 6; n += 1) {
    const tool = { name: `tool_${n}`, description: "does something", input_schema: { type: "object" } };
    const body = { model: "claude-opus-5-5", messages: [{ role: "user", content: "foo" }], tools: [tool] };
    await count(app.url, Buffer.from(JSON.stringify(body)), named);
    expect(lastSent()?.body.toString()).toBe(JSON.stringify(body));
  }
  expect((await client.turn(app.url, "prompt")).status).toBe(200);
  expect(lastSent()?.usage?.cache_read_input_tokens).toBeGreaterThan(0);
  expect(rejections(upstream.exchanges)).toEqual([]);
});
