import { expect, test } from "vitest";
import { hashContent } from "../base/index.ts";
import { protocolOf } from "../protocols/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { NumberDraft, sessionNumbers, streamNumbers } from "./block-numbers.ts";
import { addRoot, emptyTree, TreeDraft } from "./ledger-tree.ts";
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

const empty = addRoot(emptyTree, "");
const fresh = () => streamNumbers(sessionNumbers());

function numberAfter(
  units: readonly PlannedUnit[],
  { tree, end } = { tree: empty.tree, end: empty.root },
  before = fresh(),
) {
  const draft = new NumberDraft(before, 1);
  const numbered = numberUnits(units, { draft, tree, end, counter: new TokenCounter(null, 1) });
  const given = numbered.map((one) =>
    one.numbered === null ? null : [one.numbered.block, one.numbered.message],
  );
  return { given, numbers: draft.done(), numbered };
}

test("each block and each message of the client gets a number", () => {
  expect(numberAfter([opening("a"), unit("b"), opening("c")]).given).toEqual([
    [1, 1],
    [2, 1],
    [3, 2],
  ]);
});

test("a numbered unit keeps its number, and an empty message gets none", () => {
  const known = { block: 70, message: 7, turn: 1, kind: "user", tokens: 1, ttl: null } as const;
  const nothing = unit("n", { facts: { ...unit("n").facts, part: "empty" } });
  expect(numberAfter([unit("a", { numbered: known }), nothing, unit("b")]).given).toEqual([
    [70, 7],
    null,
    [1, 1],
  ]);
});

test("the second copy of a key is another block, and both keep their numbers", () => {
  const twice = [opening("a"), unit("a")];
  const first = numberAfter(twice);
  const again = numberAfter(twice, undefined, first.numbers);
  const given = [
    [1, 1],
    [2, 1],
  ];
  expect([first.given, again.given]).toEqual([given, given]);
});

test("copies earlier on the path count, and the new one remembers how many there are", () => {
  const before = unit("a");
  const { numbers } = numberAfter([before]);
  const draft = new TreeDraft(empty.tree);
  const end = draft.nodeBelow(empty.root, before);
  draft.add(end);
  const { given, numbered } = numberAfter([opening("a")], { tree: draft.done(), end }, numbers);
  expect([given, numbered[0]?.keyCount]).toEqual([[[2, 2]], 2]);
});

test("each block gets an estimated size", () => {
  const draft = new NumberDraft(fresh(), 1);
  const input = { draft, tree: empty.tree, end: empty.root, counter: new TokenCounter(null, 2) };
  const [small, large] = numberUnits([unit("a"), unit("word ".repeat(50))], input);
  expect(small?.numbered?.tokens).toBeGreaterThan(0);
  expect(large?.numbered?.tokens).toBeGreaterThan(50);
});
