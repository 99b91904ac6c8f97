// Messages without content: nothing of ours may be glued to them, and nothing may be made of them.
import { describe, expect, test } from "vitest";
import { type ClientMessage, named, ScriptedClient, text, tool, user } from "../support/scripted-client.ts";
import { seen, sharedUnits } from "../support/upstream-units.ts";

const effort: ClientMessage = { role: "system", content: [], output_config: { effort: "low" } };
const notice: ClientMessage = { role: "system", content: [text("It is Monday.")] };
const replies = [1, 2, 3, 4].map((n) => ({
  content: [
    { type: "thinking", thinking: `thought ${n}` } as const,
    { type: "text", text: `answer ${n}` } as const,
  ],
}));
const observed = { headers: { ...named.headers, "x-aperture-mode": "observe" } };
const fixed = {
  max_tokens: 1000,
  thinking: { type: "adaptive" },
  system: "Be brief.",
  tools: [tool("look")],
};

const endings: readonly (readonly [string, readonly ClientMessage[]])[] = [
  ["an effort", [effort]],
  ["two efforts", [effort, { ...effort, output_config: { effort: "high" } }]],
  ["a notice, then an effort", [notice, effort]],
  ["an effort, then a notice", [effort, notice]],
];

describe.each(["claude-opus-5-5", "claude-opus-4-8"])("on %s", (model) => {
  const starts = [
    { name: "from the start", first: named },
    { name: "joined later", first: observed },
  ];
  describe.each(starts)("$name", ({ first }) => {
    test.each(endings)("a request that ends with %s goes on", async (_, ending) => {
      const talk = new ScriptedClient(replies);
      let messages: readonly ClientMessage[] = [];
      let before: ReturnType<typeof seen> = [];
      for (const options of [first, named, named, named]) {
        messages = [...messages, user(text(`prompt ${messages.length}`)), ...ending];
        const sent = await talk.post({ model, ...fixed, messages }, options);
        expect(sent.attempts.map(({ problem }) => problem)).toEqual([null]);
        expect(() => JSON.parse(sent.attempts[0]?.body ?? "")).not.toThrow();
        const kept = sharedUnits(before, seen(sent.units));
        expect(before.length - kept).toBeLessThanOrEqual(model === "claude-opus-5-5" ? 0 : 1);
        before = seen(sent.units);
        messages = [...messages, sent.said];
      }
    });
  });
});

test.each(["", "{"])("an answer that the client begins with %j goes on", async (begun) => {
  const talk = new ScriptedClient(
    [1, 2, 3].map((n) => ({ content: [{ type: "text", text: `answer ${n}` }] })),
  );
  const old = { model: "claude-opus-4-5", max_tokens: 1000, tools: [tool("look")] };
  const first = await talk.post({ ...old, messages: [user(text("a"))] });
  const asked = [user(text("a")), first.said, user(text("b"))];
  const second = await talk.post({ ...old, messages: [...asked, { role: "assistant", content: begun }] });
  expect(second.attempts.map(({ problem }) => problem)).toEqual([null]);
  expect(second.sending.rendering).toBe("managed");
  const whole = { role: "assistant", content: `${begun}answer 2` };
  const third = await talk.post({ ...old, messages: [...asked, whole, user(text("c"))] });
  expect(third.attempts.map(({ problem }) => problem)).toEqual([null]);
  expect(third.attempts[0]?.body).toContain(JSON.stringify(whole.content));
});
