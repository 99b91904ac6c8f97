import { expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { type AnswerUnit, readAnswer } from "../../protocols/index.ts";
import { TokenGauge } from "../unit-tokens.ts";
import { hear } from "./hear.ts";
import { SessionNumbers, StreamNumbers } from "./numbers.ts";
import { bytesOf, rootPlace } from "./place.ts";

const text = (words: string) => ({ type: "text", text: words });
const call = { type: "tool_use", id: "c1", name: "look", input: {} };

function said(...content: readonly object[]): readonly AnswerUnit[] {
  const message = { content, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } };
  return readAnswer(Buffer.from(JSON.stringify(message)), "application/json").units;
}

const offered = { hasTools: true, nonce: null } as const;

function listener() {
  const numbers = new StreamNumbers(new SessionNumbers());
  const leaf = rootPlace("");
  const listen = (...content: readonly object[]) =>
    hear(leaf, said(...content), { draft: numbers.draft(1), gauge: new TokenGauge(null, 1), offered });
  return { numbers, leaf, listen };
}

test("an answer hangs below its request, one unit below the other, in one message", () => {
  const { leaf, listen } = listener();
  const places = listen(text("a"), call);
  const [first, second] = places;
  expect([first?.parent, second?.parent]).toEqual([leaf, first]);
  expect(places.map(({ opens, origin, sent }) => ({ opens, origin, sent }))).toEqual([
    { opens: true, origin: "model", sent: null },
    { opens: false, origin: "model", sent: null },
  ]);
  expect(Buffer.from(bytesOf(must(first, "it was said"))).toString()).toBe(JSON.stringify(text("a")));
});

test("its blocks are numbered, and known when the client repeats them", () => {
  const { numbers, listen } = listener();
  const places = listen(text("a"), call);
  expect(places.map(({ numbered }) => [numbered?.block, numbered?.message, numbered?.kind])).toEqual([
    [1, 1, "assistant"],
    [2, 1, "tool-call"],
  ]);
  for (const { facts, numbered } of places)
    expect(numbers.find(facts.key, 0)).toMatchObject({ block: numbered?.block });
});

test("the same answer to the same request is the same place; another one is beside it", () => {
  const { leaf, listen } = listener();
  const [once] = listen(text("a"));
  const [again] = listen(text("a"));
  const [other] = listen(text("b"));
  expect(again).toBe(once);
  expect([leaf.children.length, other?.numbered?.block]).toEqual([2, 2]);
});

test("of answers that nobody repeats the newest are kept", () => {
  const { leaf, listen } = listener();
  for (let n = 0; n < 300; n += 1) listen(text(`answer ${n}`));
  expect(leaf.children.length).toBe(256);
  expect(leaf.children.at(-1)).toBe(listen(text("answer 299"))[0]);
});

test("a call is hidden where it is one of ours, and the client's own where we have offered none", () => {
  const numbers = new StreamNumbers(new SessionNumbers());
  const called = said({ type: "tool_use", id: "a", name: "aperture_read", input: { verb: "diff" } });
  const hidden = [true, false].map((hasTools) => {
    const counting = { draft: numbers.draft(1), gauge: new TokenGauge(null, 1) };
    const places = hear(rootPlace(""), called, { ...counting, offered: { hasTools, nonce: null } });
    return places[0]?.facts.isHidden ?? false;
  });
  expect(hidden).toEqual([true, false]);
});
