// The built-in scripted model answers the model name `aperture-demo` on every protocol route, without a key
// and without a byte for the configured upstreams; its requests are recorded and managed like others.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RequestsPage, SessionsPage } from "../../src/queries/answers/index.ts";
import { type Answer, ask, jsonIn, startTestApp, type TestApp } from "../support/app.ts";

let upstream: Server;
const upstreamPaths: string[] = [];
let app: TestApp;

beforeAll(async () => {
  upstream = createServer((request, response) => {
    upstreamPaths.push(request.url ?? "");
    request.resume();
    response.writeHead(401, { "content-type": "application/json" }).end('{"error":"who are you?"}');
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", () => resolve()));
  app = await startTestApp(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, { mode: "auto" });
});

afterAll(async () => {
  await app.remove();
  upstream.closeAllConnections();
  upstream.close();
});

type DemoCall = { readonly path: string; readonly body: object; readonly headers?: Record<string, string> };

function send({ path, body, headers = {} }: DemoCall): Promise<Answer> {
  const all = { "content-type": "application/json", ...headers };
  return ask(`${app.url}${path}`, { headers: all, body: JSON.stringify(body) });
}

const model = "aperture-demo";
const prompt = 'say looking\ncall look {"at":"a"} & look {"at":"b"}\nsay all is well';
const textOf = ({ body }: Answer): string => body.toString("utf8");
/** The payloads of `data:` lines. */
const dataOf = (answer: Answer): readonly Loose[] =>
  [...textOf(answer).matchAll(/^data: (\{.*\})\r?$/gm)].map(([, json = ""]) => JSON.parse(json) as Loose);

// The fields of four protocols' answers are checked one by one, so they are not typed.
type Loose = ReturnType<typeof JSON.parse>;

describe("the Messages API", () => {
  const messages = [{ role: "user", content: prompt }];
  const body = { model, max_tokens: 500, messages };

  test("answers with calls, and continues with their results", async () => {
    const first = jsonIn(await send({ path: "/v1/messages", body })) as Loose;
    expect(first.content.map(({ type }: Loose) => type)).toEqual(["text", "tool_use", "tool_use"]);
    const results = first.content
      .slice(1)
      .map(({ id }: Loose) => ({ type: "tool_result", tool_use_id: id, content: "fine" }));
    const more = [
      ...messages,
      { role: "assistant", content: first.content },
      { role: "user", content: results },
    ];
    const second = jsonIn(await send({ path: "/v1/messages", body: { ...body, messages: more } })) as Loose;
    expect(second.content).toEqual([{ type: "text", text: "all is well" }]);
    expect(second.model).toBe(model);
  });

  test("streams, and counts", async () => {
    const events = dataOf(await send({ path: "/v1/messages", body: { ...body, stream: true } }));
    expect(events[0].type).toBe("message_start");
    expect(events.at(-1).type).toBe("message_stop");
    const { max_tokens: _, ...counted } = body;
    const answer = await send({ path: "/v1/messages/count_tokens", body: counted });
    expect((jsonIn(answer) as Loose).input_tokens).toBeGreaterThan(5);
  });

  test("is managed if the user asks for it", async () => {
    const headers = { "x-aperture-session": "demo-managed" };
    const answer = await send({ path: "/v1/messages", body, headers });
    expect(answer.status).toBe(200);
    await app.recorded();
    const { rows } = jsonIn(await app.api("/sessions/name:demo-managed/requests")) as RequestsPage;
    expect(rows.at(-1)).toMatchObject({ model, role: "turn", status: 200 });
    const sent = await app.api("/sessions/name:demo-managed/requests/1/upstream");
    expect(textOf(sent)).toContain("aperture_read");
  });
});

describe("Chat Completions", () => {
  const body = { messages: [{ role: "user", content: prompt }], model };

  test("answers, and continues with results", async () => {
    const { choices } = jsonIn(await send({ path: "/v1/chat/completions", body })) as Loose;
    expect(choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { content: "looking" } });
    const calls = choices[0].message.tool_calls as Loose[];
    expect(calls.map((call) => call.function.arguments)).toEqual(['{"at":"a"}', '{"at":"b"}']);
    const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "fine" }));
    const messages = [...body.messages, choices[0].message, ...results];
    const next = jsonIn(await send({ path: "/v1/chat/completions", body: { messages, model } })) as Loose;
    expect(next.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "all is well" } });
  });

  test("streams, even if the body names its model late", async () => {
    const long = [{ role: "user", content: `${"x ".repeat(200_000)}\nsay late` }];
    const options = { stream: true, stream_options: { include_usage: true } };
    const answer = await send({ path: "/v1/chat/completions", body: { messages: long, ...options, model } });
    const pieces = dataOf(answer).map(({ choices }) => choices[0]?.delta?.content ?? "");
    expect(pieces.join("")).toBe("late");
    expect(dataOf(answer).at(-1).usage.prompt_tokens).toBeGreaterThan(50_000);
    expect(textOf(answer).endsWith("data: [DONE]\n\n")).toBe(true);
  });
});

describe("Responses", () => {
  test("answers, and continues with results", async () => {
    const input: Loose[] = [{ role: "user", content: [{ type: "input_text", text: prompt }] }];
    const first = jsonIn(await send({ path: "/v1/responses", body: { model, input } })) as Loose;
    const types = first.output.map(({ type }: Loose) => type);
    expect(types).toEqual(["message", "function_call", "function_call"]);
    for (const item of first.output) input.push(item);
    for (const { call_id } of first.output.slice(1)) {
      input.push({ type: "function_call_output", call_id, output: "fine" });
    }
    const second = jsonIn(await send({ path: "/v1/responses", body: { model, input } })) as Loose;
    expect(second.output[0].content[0].text).toBe("all is well");
  });

  test("streams", async () => {
    const body = { model, input: "say streamed words", stream: true };
    const events = dataOf(await send({ path: "/v1/responses", body }));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } });
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    expect(deltas.map(({ delta }) => delta).join("")).toBe("streamed words");
  });
});

describe("Gemini", () => {
  const path = `/v1beta/models/${model}`;
  const contents = [{ role: "user", parts: [{ text: prompt }] }];

  test("answers, continues with results, and counts", async () => {
    const answer = await send({ path: `${path}:generateContent`, body: { contents } });
    const [{ content }] = (jsonIn(answer) as Loose).candidates;
    expect(content.parts[1]).toEqual({ functionCall: { name: "look", args: { at: "a" } } });
    const result = { functionResponse: { name: "look", response: { output: "fine" } } };
    const more = [...contents, content, { role: "user", parts: [result, result] }];
    const next = await send({ path: `${path}:generateContent?key=none`, body: { contents: more } });
    expect((jsonIn(next) as Loose).candidates[0].content.parts).toEqual([{ text: "all is well" }]);
    const counted = await send({ path: `${path}:countTokens`, body: { contents } });
    expect((jsonIn(counted) as Loose).totalTokens).toBeGreaterThan(5);
  });

  test("streams, as events and as a list", async () => {
    const body = { contents: [{ role: "user", parts: [{ text: "say one" }] }] };
    const events = dataOf(await send({ path: `${path}:streamGenerateContent?alt=sse`, body }));
    expect(events.map(({ candidates: [{ content }] }) => content.parts[0].text).join("")).toBe("one");
    const list = jsonIn(await send({ path: `${path}:streamGenerateContent`, body })) as Loose;
    expect(list.at(-1).candidates[0].finishReason).toBe("STOP");
  });
});

describe("Bedrock", () => {
  const path = `/model/${model}`;
  const anthropic = {
    anthropic_version: "bedrock-2023-05-31",
    max_tokens: 100,
    messages: [{ role: "user", content: "say from the rock" }],
  };
  const conversation = { messages: [{ role: "user", content: [{ text: "say conversed" }] }] };

  test("invokes and converses", async () => {
    const invoked = jsonIn(await send({ path: `${path}/invoke`, body: anthropic })) as Loose;
    expect(invoked.content).toEqual([{ type: "text", text: "from the rock" }]);
    const conversed = jsonIn(await send({ path: `${path}/converse`, body: conversation })) as Loose;
    expect(conversed.output.message.content).toEqual([{ text: "conversed" }]);
    expect(conversed.stopReason).toBe("end_turn");
  });

  test("streams both in the framing of AWS", async () => {
    const stream = await send({ path: `${path}/invoke-with-response-stream`, body: anthropic });
    const events = framesIn(stream.body).map(({ bytes }) =>
      JSON.parse(Buffer.from(bytes, "base64").toString("utf8")),
    ) as Loose[];
    expect(events.at(-1).type).toBe("message_stop");
    const conversed = framesIn((await send({ path: `${path}/converse-stream`, body: conversation })).body);
    expect(conversed.map(({ delta }) => delta?.text ?? "").join("")).toBe("conversed");
  });
});

/** Reads frames by their lengths alone, without the code that wrote them. */
function framesIn(body: Buffer): readonly Loose[] {
  const found: Loose[] = [];
  for (let at = 0; at < body.length; at += body.readUInt32BE(at)) {
    const [total, headers] = [body.readUInt32BE(at), body.readUInt32BE(at + 4)];
    found.push(JSON.parse(body.subarray(at + 12 + headers, at + total - 4).toString("utf8")));
  }
  return found;
}

test("no request reached the configured upstreams, and all are recorded", async () => {
  expect(upstreamPaths).toEqual([]);
  await app.recorded();
  const { rows } = jsonIn(await app.api("/sessions?limit=50")) as SessionsPage;
  expect(new Set(rows.map(({ upstream }) => upstream))).toEqual(new Set([model]));
});

test.each([
  ["a name that only begins like it", { model: "aperture-demo-2", messages: [] }],
  [
    "a message that mentions it",
    { model: "gpt-5", messages: [{ role: "user", content: '"model":"aperture-demo"' }] },
  ],
  ["a nested field with the name", { metadata: { model }, model: "gpt-5", messages: [] }],
])("another model goes to its upstream: %s", async (_, body) => {
  upstreamPaths.length = 0;
  expect((await send({ path: "/v1/chat/completions", body })).status).toBe(401);
  expect((await send({ path: "/v1/messages", body: { ...body, max_tokens: 9 } })).status).toBe(401);
  expect(upstreamPaths).toEqual(["/v1/chat/completions", "/v1/messages"]);
});
