import fc from "fast-check";
import { expect, test } from "vitest";
import { protocolOf } from "../protocols/index.ts";
import { countKeyOnPath, type LedgerNode, newNode, rootNode, rootOf, shownWhole } from "./node.ts";

const anthropic = protocolOf({ protocol: "anthropic" });

const nodeInput = {
  origin: "client",
  wrapping: { role: "user", head: "", tail: "" },
  opensMessage: true,
  extra: null,
  isRewritten: false,
  isForeignReasoning: false,
  original: null,
  firstForm: null,
  numbered: null,
  shown: shownWhole,
  isHeader: false,
} as const;

function below(parent: LedgerNode, key: string): LedgerNode {
  const type = { kind: "user", part: "text", wireType: "text" } as const;
  const facts = { protocol: anthropic.name, key, ...type, callId: null, hash: key } as const;
  return newNode(parent, { ...nodeInput, facts });
}

function slowCount(node: LedgerNode, key: string): number {
  const own = node.facts.key === key ? 1 : 0;
  return node.parent === null ? own : own + slowCount(node.parent, key);
}

/** Adds a node below the nth one, counts a key, and sometimes gives the node another key. */
const step = fc.record({
  below: fc.nat(30),
  key: fc.constantFrom("a", "b", "c"),
  counted: fc.constantFrom("a", "b", "c"),
  renamed: fc.option(fc.constantFrom("a", "b", "c")),
});

test("the remembered count of a key equals a fresh count, and every node knows its root", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const root = rootNode("root");
      const nodes = [root];
      for (const { below: at, key, counted, renamed } of steps) {
        const node = below(nodes[at % nodes.length] ?? root, key);
        // A unit of an answer takes the client's form before it has children.
        if (renamed !== null) node.facts = { ...node.facts, key: renamed };
        nodes.push(node);
        expect(countKeyOnPath(node, counted)).toBe(slowCount(node, counted));
        expect(rootOf(node)).toBe(root);
      }
      for (const node of nodes) expect(countKeyOnPath(node, "a")).toBe(slowCount(node, "a"));
    }),
  );
});
