// A request that the provider refuses in our form is sent again as written; the client does not notice.
import { afterEach, describe, expect, it } from "vitest";
import type { EngineEvent } from "../../src/log/index.ts";
import { type StrictUpstream, startStrictUpstream, type UpstreamFault } from "../../src/testing/index.ts";
import { ask, jsonIn, startTestApp, type TestApp } from "../support/app.ts";
import { parseAnswer } from "../support/parse-answer.ts";
import { promptOf, TestClient } from "../support/test-client.ts";

const odd: UpstreamFault = {
  type: "status",
  status: 400,
  errorType: "invalid_request_error",
  message: "tools.2: Tool names may not begin with this.",
};

let upstream: StrictUpstream;
let app: TestApp;
let refuses = true;
const notices: string[] = [];

async function start(): Promise<void> {
  refuses = true;
  notices.length = 0;
  upstream = await startStrictUpstream({
    model: () => ({
      content: [
        { type: "thinking", thinking: "well" },
        { type: "text", text: "an answer" },
      ],
    }),
    fault: ({ body }) => (refuses && body.includes("aperture_") ? odd : null),
  });
  app = await startTestApp(upstream.url, { mode: "auto", deadlineMs: 20_000, limits: { planMs: 30_000 } });
  app.engine.watch((event: EngineEvent) => {
    if (event.type === "notice") notices.push(event.code ?? "");
  });
}
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

async function renderingNow(): Promise<unknown> {
  const { rows } = jsonIn<{ readonly rows: readonly { readonly rendering: unknown }[] }>(
    await app.api("/sessions/last/requests"),
  );
  return rows.at(-1)?.rendering;
}
const statuses = (): readonly number[] => upstream.exchanges.map(({ status }) => status ?? 0);
const isOurs = (at: number): boolean =>
  /aperture_|CONTEXT MANIFEST/.test(upstream.exchanges.at(at)?.body.toString() ?? "");

describe.each(["claude-opus-5-5", "claude-opus-4-6"])("with %s", (model) => {
  it.each([[true], [false]])(
    "a refused rendering costs one attempt, then requests pass with the client's content alone (streamed: %s)",
    async (stream) => {
      await start();
      const talker = new TestClient({ model, bulk: 80_000, more: { stream } });
      const prompts: (readonly string[])[] = [];
      for (const words of ["first", "second"]) {
        prompts.push(promptOf(talker.body([...talker.messages, talker.next(words)])));
        const answer = await talker.turn(app.url, words);
        expect([answer.status, parseAnswer(answer).error, parseAnswer(answer).stop]).toEqual([
          200,
          null,
          "end_turn",
        ]);
        await app.recorded();
      }
      expect(statuses()).toEqual([400, 200, 200]);
      expect(isOurs(0)).toBe(true);
      // A model that binds its reasoning gets none of it, since the first message is written in another form.
      const isSent = (unit: string): boolean => model !== "claude-opus-5-5" || !unit.includes('"thinking"');
      expect(upstream.exchanges.slice(1).map(({ body }) => promptOf(body))).toEqual(
        prompts.map((units) => units.filter(isSent)),
      );
      expect(notices).toEqual(["AP_EDIT_REFUSED"]);
      // Setting the mode resumes managing.
      refuses = false;
      const headers = { authorization: `Bearer ${app.token}`, "content-type": "application/json" };
      const body = JSON.stringify({ mode: "auto" });
      expect(
        (await ask(`${app.url}/api/v1/sessions/last/mode`, { method: "PUT", headers, body })).status,
      ).toBe(200);
      expect((await talker.turn(app.url, "third")).status).toBe(200);
      await app.recorded();
      expect([await renderingNow(), statuses().at(-1)]).toEqual(["managed", 200]);
    },
  );
});

it("a refusal of the client's own mistake reaches it, and changes nothing", async () => {
  await start();
  refuses = false;
  const talker = new TestClient({ model: "claude-opus-5-5", bulk: 80_000 });
  expect((await talker.turn(app.url, "first")).status).toBe(200);
  const wrong = talker.body([...talker.messages, talker.next("second")]).toString();
  const answer = await talker.post(
    app.url,
    Buffer.from(wrong.replace('"max_tokens":4000', '"max_tokens":-1')),
  );
  expect(answer.status).toBe(400);
  expect(statuses()).toEqual([200, 400, 400]);
  expect((await talker.turn(app.url, "second")).status).toBe(200);
  expect([isOurs(-1), notices]).toEqual([true, []]);
});
