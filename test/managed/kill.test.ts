// A desk that was killed has forgotten everything, and its log may be too slow to tell.
import { expect, it } from "vitest";
import { DeskKit } from "../support/desk-kit.ts";
import { Talker } from "../support/talker.ts";

type Content = Talker["messages"][number]["content"];

function kit(): DeskKit {
  let n = 0;
  return new DeskKit({
    place: { remember: () => new Promise(() => undefined), deadlineMs: 1 },
    model: () => {
      n += 1;
      const thought = { type: "thinking", thinking: `thought ${n}` } as const;
      return { content: [thought, { type: "tool_use", name: "look", input: { n } }] };
    },
  });
}

/** One turn; answers with how often the upstream refused it before it was accepted. */
async function turn(desk: DeskKit, talker: Talker): Promise<number> {
  const asked = [...talker.messages, talker.next("begin")];
  const headers = talker.session === null ? {} : { "x-claude-code-session-id": talker.session };
  const { answer, attempts, body } = await desk.post(talker.body(asked), { headers });
  expect(answer.status).toBe(200);
  const { content } = JSON.parse(body.toString()) as { readonly content: Content };
  talker.messages = [...asked, { role: "assistant", content }];
  return attempts.filter(({ problem }) => problem !== null).length;
}

it.each([
  ["with a name", "a-name"],
  ["without one", null],
])("a log that stays silent costs one refusal, not one for each turn: %s", async (_, session) => {
  const desk = kit();
  const talker = new Talker({ session });
  for (let n = 0; n < 3; n += 1) expect(await turn(desk, talker)).toBe(0);
  desk.restart();
  const refused: number[] = [];
  for (let n = 0; n < 5; n += 1) refused.push(await turn(desk, talker));
  expect(refused).toEqual([1, 0, 0, 0, 0]);
});
