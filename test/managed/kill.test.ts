// A planner that was restarted has no streams in memory, and the log may be too slow to restore them.
import { expect, it } from "vitest";
import { PlannerKit } from "../support/planner-kit.ts";
import { TestClient } from "../support/test-client.ts";

type Content = TestClient["messages"][number]["content"];

function kit(): PlannerKit {
  let n = 0;
  return new PlannerKit({
    place: { lookUpStream: () => new Promise(() => undefined), deadlineMs: 1 },
    model: () => {
      n += 1;
      const thought = { type: "thinking", thinking: `thought ${n}` } as const;
      return { content: [thought, { type: "tool_use", name: "look", input: { n } }] };
    },
  });
}

/** Plays one turn. Returns how often the upstream refused it before it was accepted. */
async function turn(planner: PlannerKit, talker: TestClient): Promise<number> {
  const messages = [...talker.messages, talker.next("begin")];
  const headers = talker.session === null ? {} : { "x-claude-code-session-id": talker.session };
  const { answer, attempts, body } = await planner.post(talker.body(messages), { headers });
  expect(answer.status).toBe(200);
  const { content } = JSON.parse(body.toString()) as { readonly content: Content };
  talker.messages = [...messages, { role: "assistant", content }];
  return attempts.filter(({ problem }) => problem !== null).length;
}

it.each([
  ["with a name", "a-name"],
  ["without one", null],
])("a silent log costs one refusal, not one for each turn: %s", async (_, session) => {
  const planner = kit();
  const talker = new TestClient({ session });
  for (let n = 0; n < 3; n += 1) expect(await turn(planner, talker)).toBe(0);
  planner.restart();
  const refusals: number[] = [];
  for (let n = 0; n < 5; n += 1) refusals.push(await turn(planner, talker));
  expect(refusals).toEqual([1, 0, 0, 0, 0]);
});
