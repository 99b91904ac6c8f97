// A client that lets its provider keep the talk would go on behind calls of ours that nobody has answered
// there: where we render, it is told to send all of it, and where we only watch, that is left to the two.
import { expect, test } from "vitest";
import { endsScenes, ours, scene, talk, text } from "./relay-kit.ts";

endsScenes();

const thread = { thread: { type: "create" } };
const refusal = {
  type: "error",
  error: { type: "invalid_request_error", details: { error_code: "thread_unsupported_request" } },
};

test.each([
  ["to begin one", thread],
  ["to go on with one", { thread: { type: "continue", previous_message_id: "msg_1" } }],
])("a managed talk is not kept by the provider: asked %s", async (_, more) => {
  const given = await scene([[ours(), text("one")], [text("two")]]);
  const asking = talk(more);
  const answer = await asking.turn(given.app.url, "question");
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body.toString())).toMatchObject(refusal);
  expect(given.exchanges()).toEqual([]);
});

test("the client goes on with all of it, and is managed from there", async () => {
  const given = await scene([[ours()], [text("two")], [text("three")]]);
  const first = talk(thread);
  expect((await first.turn(given.app.url, "question")).status).toBe(400);
  const next = talk({}, { session: first.session });
  expect((await next.turn(given.app.url, "question")).status).toBe(200);
  expect((await next.turn(given.app.url, "and then?")).status).toBe(200);
  expect(given.exchanges().map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(given.bodies().at(-1)?.toString()).toContain("CONTEXT MANIFEST");
});

test.each([
  ["observed", { "x-aperture-mode": "observe" }],
  ["bypassed", { "x-aperture-bypass": "1" }],
])("a talk that is %s asks its provider itself", async (_, headers) => {
  const given = await scene([[text("one")]]);
  await talk(thread, { headers }).turn(given.app.url, "question");
  // This upstream keeps none, and says so in its own words.
  expect(
    given.exchanges().map(({ status, error }) => [status, error?.message.startsWith("thread: ")]),
  ).toEqual([[400, true]]);
});

test("a talk that says null for it asks for none", async () => {
  const given = await scene([[text("one")]]);
  expect((await talk({ thread: null }).turn(given.app.url, "question")).status).toBe(200);
});
