import { expect, it } from "vitest";
import { exampleBlock } from "../../../test/support/delta-examples.ts";
import { type Actor, actors, factNames, initialFact, outranks } from "./facts.ts";

it("a fact that was never set belongs to policy, so that any actor may change it", () => {
  expect(factNames.map((fact) => initialFact(exampleBlock, fact).by)).toEqual(factNames.map(() => "policy"));
});

it("a new block is original, unpinned, unselected, not archived, never referenced, with its own ttl", () => {
  expect(Object.fromEntries(factNames.map((fact) => [fact, initialFact(exampleBlock, fact).value]))).toEqual({
    level: "original",
    pin: "none",
    ttl: exampleBlock.ttl,
    focus: null,
    selection: false,
    archive: null,
    withhold: false,
    reference: { turn: exampleBlock.turn, count: 0 },
    supersession: null,
  });
});

it("a block added without a ttl has none", () => {
  expect(initialFact({ ...exampleBlock, ttl: null }, "ttl").value).toBeNull();
});

it("the user outranks all, client and model outrank sidecar and policy, and equals outrank each other", () => {
  const below = (actor: Actor) => actors.filter((other) => outranks(actor, other));
  expect(below("user")).toEqual(["user", "client", "model", "sidecar", "policy"]);
  expect([below("client"), below("model")]).toEqual(Array(2).fill(["client", "model", "sidecar", "policy"]));
  expect([below("sidecar"), below("policy")]).toEqual(Array(2).fill(["sidecar", "policy"]));
});

it("every fact name and actor is listed once", () => {
  expect([new Set(factNames).size, new Set(actors).size]).toEqual([factNames.length, actors.length]);
});
