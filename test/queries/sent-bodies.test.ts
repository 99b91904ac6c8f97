import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { hashContent, sessionId } from "../../src/base/index.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import { clock, first, scene, second } from "../support/query-scene.ts";

it("sent bodies are the bytes sent upstream, and those of the request before", async () => {
  const { watched, ask } = await scene();
  const one = await watched.talk(first);
  const two = await watched.talk(second);
  const target = "POST /v1/messages?beta=true";
  const [time, session, seq] = [clock.now(), "s1", 5];
  const sent = { exchange: 2, target, time, bytes: new Uint8Array(two.request) };
  const before = { exchange: 1, target, time, bytes: new Uint8Array(one.request) };
  expect(plain(await ask({ type: "sent-bodies", session, exchange: 2 }))).toEqual(
    plain({ session, seq, sent, before }),
  );
  expect(await ask({ type: "sent-bodies", session, exchange: 1 })).toMatchObject({ before: null });
});

it("the body before is the last accepted one, because a refused one fills no cache", async () => {
  const { watched, ask } = await scene();
  await watched.talk(first);
  await watched.talk({ ...second, end: { status: 529, usage: null } });
  await watched.talk({ ...second, end: { outcome: "failed", status: null, usage: null } });
  await watched.talk(second);
  for (const exchange of [2, 3, 4]) {
    const { before } = await ask({ type: "sent-bodies", session: "s1", exchange });
    expect([exchange, before?.exchange]).toEqual([exchange, 1]);
  }
});

it("a body that was not stored cannot be replayed, and a later one goes alone", async () => {
  const { watched, library: deps, ask } = await scene();
  await watched.talk({ ...first, exchange: { rendering: "managed" } });
  await watched.talk(second);
  const refused = await answerQuestion(deps, { type: "sent-bodies", session: "s1", exchange: 1 });
  expect(refused).toMatchObject({
    error: {
      code: "AP_REPLAY_IMPOSSIBLE",
      message: "Request 1 cannot be replayed: the bytes that went upstream were not kept.",
    },
  });
  expect(await ask({ type: "sent-bodies", session: "s1", exchange: 2 })).toMatchObject({ before: null });
  expect(await answerQuestion(deps, { type: "sent-bodies", session: "s1", exchange: 3 })).toMatchObject({
    error: { code: "AP_EXCHANGE_UNKNOWN" },
  });
});

it("compressed bodies are unpacked", async () => {
  const { watched, store, ask } = await scene();
  await watched.talk({ ...first, exchange: { rendering: "managed" } });
  const packed = gzipSync('{"model":"m"}');
  const recipe = [{ from: "literal", bytes: packed }] as const;
  const [session, hash, length] = [sessionId("s1"), hashContent(packed), packed.length];
  const body = { session, exchange: 1, side: "upstream-request", hash, length, recipe } as const;
  store.append({ bodies: [body] });
  await store.flush();
  const { sent } = await ask({ type: "sent-bodies", session: "s1", exchange: 1 });
  expect(Buffer.from(sent.bytes).toString()).toBe('{"model":"m"}');
});

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each: unknown) => (each instanceof Uint8Array ? [...each] : each)));
