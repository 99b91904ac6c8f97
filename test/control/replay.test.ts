// The built-in strict model answers recorded requests like the upstream they were sent to.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ErrorAnswer, ReplayAnswer } from "../../src/control/index.ts";
import type { RequestsPage, SessionsPage, StateRow } from "../../src/queries/answers/index.ts";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { ask, jsonIn, startTestApp, type TestApp } from "../support/app.ts";
import { TestClient } from "../support/test-client.ts";

let upstream: StrictUpstream;
let app: TestApp;
let session = "";

beforeAll(async () => {
  upstream = await startStrictUpstream({
    model: (_, n) => ({
      content: [
        { type: "thinking", thinking: `thought ${n}` },
        n % 2 === 0 ? { type: "text", text: "said" } : { type: "tool_use", name: "look", input: { n } },
      ],
    }),
  });
  app = await startTestApp(upstream.url, { mode: "auto", deadlineMs: 20_000, limits: { planMs: 30_000 } });
  const talker = new TestClient({ session: "first" });
  for (const prompt of ["one", "two", "three", "four", "five"]) await talker.turn(app.url, prompt);
  // The history begins with a message of the model, which no provider accepts.
  await talker.post(app.url, talker.body(talker.messages.slice(1, 3)));
  await app.recorded();
  session =
    jsonIn<SessionsPage>(await app.api("/sessions")).rows.find(({ requests }) => requests >= 5)?.id ?? "";
}, 60_000);
afterAll(async () => {
  await app.remove();
  await upstream.close();
});

const requests = async (id: string) => jsonIn<RequestsPage>(await app.api(`/sessions/${id}/requests`)).rows;
const replay = (id: string, exchange: number) => app.api(`/sessions/${id}/requests/${exchange}/replay`);

it("every request gets the verdict of its upstream, with the same message and cache reads", async () => {
  const sent = upstream.exchanges.length;
  const { rows } = jsonIn<SessionsPage>(await app.api("/sessions"));
  const statuses: string[] = [];
  let fromCache = 0;
  const messages = new Set(
    upstream.exchanges.flatMap(({ error }) => (error === null ? [] : [error.message])),
  );
  for (const { id } of rows) {
    for (const row of await requests(id)) {
      const { verdict, behind } = jsonIn<ReplayAnswer>(await replay(id, row.id));
      expect([row.id, verdict.status]).toEqual([row.id, row.status]);
      statuses.push(`${row.rendering} ${verdict.status}`);
      if (!verdict.accepted) expect(messages).toContain(verdict.message);
      else if (behind !== null) expect(verdict.prompt?.cacheRead).toBe(row.usage?.cacheRead);
      if (verdict.accepted) fromCache += verdict.prompt?.cacheRead ?? 0;
    }
  }
  expect(statuses).toContain("managed 200");
  expect(fromCache).toBeGreaterThan(0);
  expect(statuses.some((each) => each.endsWith(" 400"))).toBe(true);
  // The replay sent nothing.
  expect(upstream.exchanges.length).toBe(sent);
}, 60_000);

it("a request with purged content cannot be replayed", async () => {
  const { blocks } = jsonIn<StateRow>(await app.api(`/sessions/${session}/state`));
  const last = blocks.findLast(({ kind }) => kind === "tool-result")?.n ?? 0;
  const body = JSON.stringify({ command: `@purge(${last})` });
  const headers = { authorization: `Bearer ${app.token}` };
  await ask(`${app.url}/api/v1/sessions/${session}/ops`, { method: "POST", headers, body });
  const answers = await Promise.all((await requests(session)).map(({ id }) => replay(session, id)));
  const gone = answers.filter(({ status }) => status === 409).map((answer) => jsonIn<ErrorAnswer>(answer));
  expect(gone.length).toBeGreaterThan(0);
  for (const { error } of gone) {
    expect(error.code).toBe("AP_REPLAY_IMPOSSIBLE");
    expect(error.message).toMatch(/^Request \d+ cannot be replayed: .* were purged\.$/);
  }
}, 60_000);
