import { expect, test } from "vitest";
import { hashContent } from "../base/index.ts";
import { protocolOf } from "../protocols/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { SessionNumbers, StreamNumbers } from "./block-numbers.ts";
import { type LedgerNode, newNode, rootNode } from "./node.ts";
import { numberUnits } from "./numbering.ts";
import { type PlannedUnit, plannedDefaults } from "./planned-units.ts";

const anthropic = protocolOf({ protocol: "anthropic" });

const wrapping = { role: "user", head: "[", tail: "]" };

function unit(key: string, over: Partial<PlannedUnit> = {}): PlannedUnit {
  const bytes = Buffer.from(JSON.stringify({ type: "text", text: key }));
  const hash = hashContent(bytes);
  const type = { kind: "user", part: "text", wireType: "text" } as const;
  const facts = { protocol: anthropic.name, key, ...type, callId: null, hash } as const;
  const position = { origin: "client", wrapping, opensMessage: false, extra: null, alignedIndex: 0 } as const;
  return { ...plannedDefaults, facts, ...position, bytes, hash, ...over };
}

const opening = (key: string) => unit(key, { extra: "", opensMessage: true });

function numbersOf(units: readonly PlannedUnit[], end: LedgerNode = rootNode(""), numbers = fresh()) {
  const draft = numbers.draft(1);
  const given = numberUnits(units, { numbers, draft, end, counter: new TokenCounter(null, 1) });
  draft.commit();
  return given.map(({ numbered }) => (numbered === null ? null : [numbered.block, numbered.message]));
}

const fresh = () => new StreamNumbers(new SessionNumbers());

test("each block and each message of the client gets a number", () => {
  expect(numbersOf([opening("a"), unit("b"), opening("c")])).toEqual([
    [1, 1],
    [2, 1],
    [3, 2],
  ]);
});

test("a numbered unit keeps its number, and an empty message gets none", () => {
  const known = { block: 70, message: 7, turn: 1, kind: "user", tokens: 1, ttl: null } as const;
  const nothing = unit("n", { facts: { ...unit("n").facts, part: "empty" } });
  expect(numbersOf([unit("a", { numbered: known }), nothing, unit("b")])).toEqual([[70, 7], null, [1, 1]]);
});

test("the second copy of a key is another block, and both keep their numbers", () => {
  const numbers = fresh();
  const twice = [opening("a"), unit("a")];
  expect(numbersOf(twice, rootNode(""), numbers)).toEqual([
    [1, 1],
    [2, 1],
  ]);
  expect(numbersOf(twice, rootNode(""), numbers)).toEqual([
    [1, 1],
    [2, 1],
  ]);
});

test("copies earlier on the path count", () => {
  const numbers = fresh();
  const before = unit("a");
  numbersOf([before], rootNode(""), numbers);
  const end = newNode(rootNode(""), before);
  expect(numbersOf([opening("a")], end, numbers)).toEqual([[2, 2]]);
});

test("each block gets an estimated size", () => {
  const numbers = fresh();
  const input = { numbers, draft: numbers.draft(1), end: rootNode("") };
  const [small, large] = numberUnits([unit("a"), unit("word ".repeat(50))], {
    ...input,
    counter: new TokenCounter(null, 2),
  });
  expect(small?.numbered?.tokens).toBeGreaterThan(0);
  expect(large?.numbered?.tokens).toBeGreaterThan(50);
});
