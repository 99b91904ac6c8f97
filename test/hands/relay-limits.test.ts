// A client's limits hold for its whole answer, over all samplings.
import { describe, expect, test } from "vitest";
import {
  closeAfterAll,
  forms,
  newTalker,
  ours,
  playTurns,
  scene,
  shapeOf,
  text,
  think,
} from "./relay-kit.ts";

closeAfterAll();

type RequestLimits = {
  readonly max_tokens: number;
  readonly thinking: unknown;
  readonly stop_sequences: unknown;
  readonly output_config: unknown;
};
const limitsIn = (bodies: readonly Buffer[]): readonly RequestLimits[] =>
  bodies.map((body) => JSON.parse(body.toString()) as RequestLimits);

const lines = (count: number): string => "some words for it\n".repeat(count);

describe.each(forms)("an answer %s", (_, more) => {
  test("never exceeds max_tokens: each sampling gets what is left of them", async () => {
    const played = await scene([[text("one"), ours()], [text("two"), ours()], [text(lines(400))]]);
    const [first] = await playTurns(played, newTalker({ ...more, max_tokens: 300 }), 1);
    const sampled = played.exchanges().map(({ usage }) => usage?.output_tokens ?? 0);
    const [, afterOne = 0] = sampled.map((_each, at) => sampled.slice(0, at).reduce((a, b) => a + b, 0));
    const allowed = limitsIn(played.bodies()).map(({ max_tokens }) => max_tokens);
    expect(allowed).toEqual([300, 300 - afterOne, 300 - afterOne - (sampled[1] ?? 0)]);
    expect(first?.stop).toBe("max_tokens");
  });

  test("is not continued if no tokens are left", async () => {
    const usage = { output_tokens: 4_000 };
    const played = await scene([{ content: [text("one"), ours()], usage }, [text("after")]]);
    const [first] = await playTurns(played, newTalker(more), 2);
    expect(played.exchanges()).toHaveLength(2);
    expect(first && shapeOf(first)).toEqual(["text one"]);
  });

  test("keeps the reasoning budget unchanged", async () => {
    const thinking = { type: "enabled", budget_tokens: 2_000 };
    const played = await scene([
      [think("a"), text(lines(20)), ours()],
      [think("b"), text("two")],
    ]);
    const talker = newTalker({ ...more, max_tokens: 2_050, thinking }, { model: "claude-opus-4-5" });
    await playTurns(played, talker, 1);
    const requestLimits = limitsIn(played.bodies());
    expect(requestLimits.map(({ max_tokens }) => max_tokens)).toEqual([2_050, 2_001]);
    expect(requestLimits.map(({ thinking: each }) => each)).toEqual([thinking, thinking]);
  });

  test("keeps the output format in every sampling", async () => {
    const schema = { type: "object", properties: { a: { type: "number" } }, additionalProperties: false };
    const output_config = { format: { type: "json_schema", schema } };
    const played = await scene([[ours()], [text('{"a":1}')]]);
    const [first] = await playTurns(played, newTalker({ ...more, output_config }), 1);
    expect(limitsIn(played.bodies()).map((requestLimits) => requestLimits.output_config)).toEqual([
      output_config,
      output_config,
    ]);
    expect(first && shapeOf(first)).toEqual(['text {"a":1}']);
  });

  test("keeps the stop sequences in every sampling", async () => {
    const played = await scene([
      [text("one"), ours()],
      { content: [text("two")], stopReason: "stop_sequence" },
    ]);
    const [first] = await playTurns(played, newTalker({ ...more, stop_sequences: ["END"] }), 1);
    expect(limitsIn(played.bodies()).map(({ stop_sequences }) => stop_sequences)).toEqual([["END"], ["END"]]);
    expect(first?.stop).toBe("stop_sequence");
  });
});
