import { describe, expect, test } from "vitest";
import { rawRequest } from "../../test/support/ask.ts";
import type { ModelReply } from "./model-reply.ts";
import { readRawRequest } from "./read-raw-request.ts";
import { type AgentOptions, ruleAgent } from "./rule-agent.ts";
import { schemaExample } from "./schema-example.ts";

type Fields = Record<string, unknown>;

async function reply(
  messages: readonly unknown[],
  fields: Fields = {},
  options: AgentOptions = {},
): Promise<ModelReply> {
  const body = { model: "claude-opus-4-6", max_tokens: 100, messages, ...fields };
  const read = readRawRequest(rawRequest(body), {});
  if (read.type !== "request") throw new Error(JSON.stringify(read));
  return await ruleAgent(options)(read.request, 1);
}

const user = (content: unknown) => ({ role: "user", content });
const called = (id: string) => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "x", input: {} }],
});
const result = (id: string, ...more: unknown[]) => user([{ type: "tool_result", tool_use_id: id }, ...more]);
const textReply = (text: string) => ({ content: [{ type: "text", text }] });

const prompt = `Please:
say first both
call Read {"file_path":"a & b {"} & call Bash {"command":"x"}
  call Write {}
say all
say done`;

describe("a prompt that spells out its steps", () => {
  test("is followed turn by turn", async () => {
    const turns = [user(prompt)];
    expect(await reply(turns)).toEqual({
      content: [
        { type: "text", text: "first both" },
        { type: "tool_use", name: "Read", input: { file_path: "a & b {" } },
        { type: "tool_use", name: "Bash", input: { command: "x" } },
      ],
    });
    const second = [...turns, called("1"), result("1")];
    expect(await reply(second)).toEqual({ content: [{ type: "tool_use", name: "Write", input: {} }] });
    const third = [...second, called("2"), result("2")];
    expect(await reply(third)).toEqual(textReply("all\ndone"));
  });

  test("ends with the fallback, and a new prompt starts anew", async () => {
    const first = [user("call X"), called("1"), result("1")];
    expect(await reply(first)).toEqual(textReply("Done."));
    const next = [...first, { role: "assistant", content: "Done." }, user("say more")];
    expect(await reply(next)).toEqual(textReply("more"));
  });

  test("is not confused with results, reminders or broken lines", async () => {
    const noise = { type: "text", text: "<system-reminder>\nsay no\n</system-reminder>" };
    const turns = [user("call X\nsay yes"), called("1"), result("1", noise)];
    expect(await reply(turns)).toEqual(textReply("yes"));
    const tokens = { type: "text", text: "<total_tokens>5 left</total_tokens>" };
    expect(await reply([user("call X\nsay yes"), called("1"), result("1", tokens)])).toEqual(
      textReply("yes"),
    );
    expect(await reply([user("call X {broken\nsay ok")])).toEqual(textReply("ok"));
  });
});

test("rules come before the prompt", async () => {
  const options: AgentOptions = {
    fallback: "nothing",
    rules: [
      { when: /weather/, steps: [{ calls: [{ name: "sky", input: {} }] }, { say: "rain" }] },
      { when: ({ stream }) => stream, steps: [{ say: "streamed" }] },
    ],
  };
  const turns = [user("how is the weather?")];
  expect(await reply(turns, {}, options)).toEqual({
    content: [{ type: "tool_use", name: "sky", input: {} }],
  });
  expect(await reply([...turns, called("1"), result("1")], {}, options)).toEqual(textReply("rain"));
  expect(await reply([user("else")], { stream: true }, options)).toEqual(textReply("streamed"));
  expect(await reply([user("else")], {}, options)).toEqual(textReply("nothing"));
});

test("the agent thinks first if the request allows thinking", async () => {
  const { content } = await reply([user("say a")], { thinking: { type: "adaptive" } });
  expect(content.map(({ type }) => type)).toEqual(["thinking", "text"]);
});

test("a request for a format gets a small value that fits", async () => {
  const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
  const { content } = await reply([user("x")], {
    output_config: { format: { type: "json_schema", schema } },
  });
  expect(content).toEqual([{ type: "text", text: '{"title":"example"}' }]);
});

test.each<[string, Parameters<typeof schemaExample>[0], unknown]>([
  ["a choice", { enum: ["b", "a"] }, "b"],
  ["a constant", { const: 3 }, 3],
  ["a number", { type: "integer", minimum: 2 }, 2],
  ["a list", { type: "array", minItems: 2, items: { type: "boolean" } }, [false, false]],
  ["text of a length", { type: "string", maxLength: 3 }, "exa"],
  ["one of several", { anyOf: [{ type: "null" }, { type: "string" }] }, null],
  ["a reference", { $ref: "#/$defs/a", $defs: { a: { type: "boolean" } } }, false],
  ["a circle", { $ref: "#" }, null],
])("%s has an example", (_name, schema, expected) => {
  expect(schemaExample(schema)).toEqual(expected);
});
