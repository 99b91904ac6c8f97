// What a client says of its answer holds for the whole of it, however many samplings it is made of.
import { describe, expect, test } from "vitest";
import { endsScenes, forms, ours, scene, shapeOf, talk, text, think, turns } from "./relay-kit.ts";

endsScenes();

type Asked = {
  readonly max_tokens: number;
  readonly thinking: unknown;
  readonly stop_sequences: unknown;
  readonly output_config: unknown;
};
const askedIn = (bodies: readonly Buffer[]): readonly Asked[] =>
  bodies.map((body) => JSON.parse(body.toString()) as Asked);

const lines = (count: number): string => "some words for it\n".repeat(count);

describe.each(forms)("an answer %s", (_, more) => {
  test("is not longer than the client allows: what was written is gone for the next sampling", async () => {
    const given = await scene([[text("one"), ours()], [text("two"), ours()], [text(lines(400))]]);
    const [first] = await turns(given, talk({ ...more, max_tokens: 300 }), 1);
    const sampled = given.exchanges().map(({ usage }) => usage?.output_tokens ?? 0);
    const [, afterOne = 0] = sampled.map((_each, at) => sampled.slice(0, at).reduce((a, b) => a + b, 0));
    const allowed = askedIn(given.bodies()).map(({ max_tokens }) => max_tokens);
    expect(allowed).toEqual([300, 300 - afterOne, 300 - afterOne - (sampled[1] ?? 0)]);
    expect(first?.stop).toBe("max_tokens");
  });

  test("is not gone on with where nothing is left", async () => {
    const usage = { output_tokens: 4_000 };
    const given = await scene([{ content: [text("one"), ours()], usage }, [text("after")]]);
    const [first] = await turns(given, talk(more), 2);
    expect(given.exchanges()).toHaveLength(2);
    expect(first && shapeOf(first)).toEqual(["text one"]);
  });

  test("leaves reasoning its budget, which must not change", async () => {
    const thinking = { type: "enabled", budget_tokens: 2_000 };
    const given = await scene([
      [think("a"), text(lines(20)), ours()],
      [think("b"), text("two")],
    ]);
    const talker = talk({ ...more, max_tokens: 2_050, thinking }, { model: "claude-opus-4-5" });
    await turns(given, talker, 1);
    const asked = askedIn(given.bodies());
    expect(asked.map(({ max_tokens }) => max_tokens)).toEqual([2_050, 2_001]);
    expect(asked.map(({ thinking: each }) => each)).toEqual([thinking, thinking]);
  });

  test("has the form the client wants, asked for in every sampling", async () => {
    const schema = { type: "object", properties: { a: { type: "number" } }, additionalProperties: false };
    const output_config = { format: { type: "json_schema", schema } };
    const given = await scene([[ours()], [text('{"a":1}')]]);
    const [first] = await turns(given, talk({ ...more, output_config }), 1);
    expect(askedIn(given.bodies()).map((asked) => asked.output_config)).toEqual([
      output_config,
      output_config,
    ]);
    expect(first && shapeOf(first)).toEqual(['text {"a":1}']);
  });

  test("stops where the client wants it to, in every sampling", async () => {
    const given = await scene([
      [text("one"), ours()],
      { content: [text("two")], stopReason: "stop_sequence" },
    ]);
    const [first] = await turns(given, talk({ ...more, stop_sequences: ["END"] }), 1);
    expect(askedIn(given.bodies()).map(({ stop_sequences }) => stop_sequences)).toEqual([["END"], ["END"]]);
    expect(first?.stop).toBe("stop_sequence");
  });
});
