// A provider that keeps the conversation itself would continue behind unanswered calls of our tools. A
// managed client is told to send the whole conversation; for an observed one nothing changes.
import { expect, test } from "vitest";
import { closeAfterAll, newTalker, ours, scene, text } from "./relay-kit.ts";

closeAfterAll();

const thread = { thread: { type: "create" } };
const refusal = {
  type: "error",
  error: { type: "invalid_request_error", details: { error_code: "thread_unsupported_request" } },
};

test.each([
  ["to begin one", thread],
  ["to go on with one", { thread: { type: "continue", previous_message_id: "msg_1" } }],
])("a managed conversation is not kept by the provider: asked %s", async (_, more) => {
  const played = await scene([[ours(), text("one")], [text("two")]]);
  const talker = newTalker(more);
  const answer = await talker.turn(played.app.url, "question");
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body.toString())).toMatchObject(refusal);
  expect(played.exchanges()).toEqual([]);
});

test("a client that sends the whole conversation is managed", async () => {
  const played = await scene([[ours()], [text("two")], [text("three")]]);
  const first = newTalker(thread);
  expect((await first.turn(played.app.url, "question")).status).toBe(400);
  const next = newTalker({}, { session: first.session });
  expect((await next.turn(played.app.url, "question")).status).toBe(200);
  expect((await next.turn(played.app.url, "and then?")).status).toBe(200);
  expect(played.exchanges().map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(played.bodies().at(-1)?.toString()).toContain("CONTEXT MANIFEST");
});

test.each([
  ["observed", { "x-aperture-mode": "observe" }],
  ["bypassed", { "x-aperture-bypass": "1" }],
])("a conversation that is %s reaches its provider unchanged", async (_, headers) => {
  const played = await scene([[text("one")]]);
  const talker = newTalker(thread, { headers });
  const body = talker.body([talker.next("question")]);
  await talker.turn(played.app.url, "question");
  expect(played.bodies().map(String)).toEqual([body.toString()]);
  // This upstream keeps no conversations, and refuses with its own message.
  expect(
    played.exchanges().map(({ status, error }) => [status, error?.message.startsWith("thread: ")]),
  ).toEqual([[400, true]]);
});

test("a null thread asks for none", async () => {
  const played = await scene([[text("one")]]);
  expect((await newTalker({ thread: null }).turn(played.app.url, "question")).status).toBe(200);
});
