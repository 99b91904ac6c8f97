// A client that acts on the last word of an answer, before the answer has come to its end.
import type { ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import { fakeDesk, managed } from "./fake-desk.ts";
import { postJson, type Relay, startRelay, startUpstream, type Upstream, until } from "./harness.ts";

let upstream: Upstream;
let relay: Relay;

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const body = Buffer.from("{}");
const word = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

test.each([
  ["has said its last word", word, 1],
  ["has not", "event: ping\ndata: {}\n\n", 0],
])("the desk hears of an answer that %s before it takes the next request", async (_name, text, heard) => {
  const held: ServerResponse[] = [];
  const desk = fakeDesk({ take: (asking) => managed(asking, ["{}"]) });
  upstream = await startUpstream((_seen, response) => {
    held.push(response);
    if (held.length === 1) response.writeHead(200).write(text);
    else response.end("second");
  });
  relay = await startRelay(upstream.url, { desk });
  const first = postJson(relay.proxy.port, "/v1/messages", body);
  await until(() => relay.proxy.metrics().bytesDown > 0 || held.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await postJson(relay.proxy.port, "/v1/messages", body);
  const early = desk.ended.filter(({ body: said }) => said === text).length;
  expect(early).toBe(heard);
  held[0]?.end();
  await first;
  await until(() => desk.ended.length === 2);
});
