import { expect, test } from "vitest";
import { hashContent } from "../../base/index.ts";
import { TokenGauge } from "../unit-tokens.ts";
import { asIs, type Item, newPlace } from "./draft.ts";
import { numberItems } from "./number-items.ts";
import { SessionNumbers, StreamNumbers } from "./numbers.ts";
import { type Place, rootPlace } from "./place.ts";

const wrapping = { role: "user", head: "[", tail: "]" };

function item(key: string, over: Partial<Item> = {}): Item {
  const bytes = Buffer.from(JSON.stringify({ type: "text", text: key }));
  const hash = hashContent(bytes);
  const facts = { key, kind: "user", type: "text", callId: null, hash } as const;
  const said = { ...asIs, facts, origin: "client", wrapping, opens: false, extra: null, at: 0 } as const;
  return { ...said, bytes, hash, ...over };
}

const opening = (key: string) => item(key, { extra: "", opens: true });

function numbered(items: readonly Item[], end: Place = rootPlace(""), numbers = fresh()) {
  const draft = numbers.draft(1);
  const given = numberItems(items, { numbers, draft, end, gauge: new TokenGauge(null, 1) });
  draft.keep();
  return given.map((one) => (one.numbered === null ? null : [one.numbered.block, one.numbered.message]));
}

const fresh = () => new StreamNumbers(new SessionNumbers());

test("each block has a number, and each of the client's messages", () => {
  expect(numbered([opening("a"), item("b"), opening("c")])).toEqual([
    [1, 1],
    [2, 1],
    [3, 2],
  ]);
});

test("what has a number keeps it, and what is no block has none", () => {
  const known = { block: 70, message: 7, turn: 1, kind: "user", tokens: 1, ttl: null } as const;
  const nothing = item("n", { facts: { ...item("n").facts, type: "none" } });
  expect(numbered([item("a", { numbered: known }), nothing, item("b")])).toEqual([[70, 7], null, [1, 1]]);
});

test("the second copy of a key is another block, and each is the same one the next time", () => {
  const numbers = fresh();
  const twice = [opening("a"), item("a")];
  expect(numbered(twice, rootPlace(""), numbers)).toEqual([
    [1, 1],
    [2, 1],
  ]);
  expect(numbered(twice, rootPlace(""), numbers)).toEqual([
    [1, 1],
    [2, 1],
  ]);
});

test("copies on the path before count", () => {
  const numbers = fresh();
  const before = item("a");
  numbered([before], rootPlace(""), numbers);
  const end = newPlace(rootPlace(""), before);
  expect(numbered([opening("a")], end, numbers)).toEqual([[2, 2]]);
});

test("a size is estimated for each", () => {
  const numbers = fresh();
  const asked = { numbers, draft: numbers.draft(1), end: rootPlace("") };
  const [small, large] = numberItems([item("a"), item("word ".repeat(50))], {
    ...asked,
    gauge: new TokenGauge(null, 2),
  });
  expect(small?.numbered?.tokens).toBeGreaterThan(0);
  expect(large?.numbered?.tokens).toBeGreaterThan(50);
});
