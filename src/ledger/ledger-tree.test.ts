import fc from "fast-check";
import { expect, test } from "vitest";
import { protocolOf } from "../protocols/index.ts";
import { AppendBuffer } from "./append-buffer.ts";
import { keepBranch } from "./branches.ts";
import {
  addRoot,
  childrenOf,
  countKeyOnPath,
  emptyTree,
  type LedgerTree,
  nodeAt,
  parentOf,
  pathTo,
  TreeDraft,
} from "./ledger-tree.ts";
import { type LedgerNode, shownWhole } from "./node.ts";

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

function inputFor(key: string, keyCount: number | null = null) {
  const type = { kind: "user", part: "text", wireType: "text" } as const;
  const facts = { protocol: anthropic.name, key, ...type, callId: null, hash: key } as const;
  return { ...nodeInput, facts, keyCount };
}

function slowCount(tree: LedgerTree, node: LedgerNode, key: string): number {
  return [...pathTo(tree, node)].filter(({ facts }) => facts.key === key).length;
}

/** Adds a node below the nth one, and sometimes remembers how many have its key. */
const step = fc.record({
  below: fc.nat(30),
  key: fc.constantFrom("a", "b", "c"),
  isCounted: fc.boolean(),
});

test("the remembered count of a key equals a fresh count, and every node knows its root", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { tree: start, root } = addRoot(emptyTree, "root");
      const draft = new TreeDraft(start);
      const nodes = [root];
      for (const { below, key, isCounted } of steps) {
        const parent = nodes[below % nodes.length] ?? root;
        const count = isCounted ? draft.countKeyOnPath(parent, key) + 1 : null;
        const node = draft.nodeBelow(parent, inputFor(key, count));
        draft.add(node);
        nodes.push(node);
      }
      const tree = draft.done();
      for (const node of nodes) {
        for (const key of ["a", "b", "c"])
          expect(countKeyOnPath(tree, node, key)).toBe(slowCount(tree, node, key));
        expect([node.root, nodeAt(tree, node.index)]).toEqual([root.index, node]);
      }
    }),
  );
});

type Change = { readonly type: "add" | "set" | "drop"; readonly at: number };
const change = fc.record({ type: fc.constantFrom("add", "add", "set", "drop"), at: fc.nat(40) });

function changed(tree: LedgerTree, { type, at }: Change): LedgerTree {
  const draft = new TreeDraft(tree);
  const nodes = [...tree.nodes.entries()].map(([, node]) => node);
  const node = nodes[at % nodes.length];
  if (node === undefined) return tree;
  if (type === "add") draft.add(draft.nodeBelow(node, inputFor(`${at}`)));
  else if (type === "set") draft.set({ ...node, isLeaf: !node.isLeaf });
  else if (node.parent !== null) draft.drop(node);
  return draft.done();
}

function describeTree(tree: LedgerTree): unknown {
  return [...tree.nodes.entries()].map(([, node]) => [
    node,
    childrenOf(tree, node).map(({ index }) => index),
    parentOf(tree, node)?.index,
  ]);
}

test("a tree never changes; parents and children agree; no index is used twice", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 50 }), (changes) => {
      let { tree } = addRoot(emptyTree, "root");
      const before: (readonly [LedgerTree, unknown])[] = [];
      for (const one of changes) {
        before.push([tree, describeTree(tree)]);
        const next = changed(tree, one as Change);
        expect(next.nodes.size).toBe(tree.nodes.size + (one.type === "add" ? 1 : 0));
        tree = next;
      }
      for (const [, node] of tree.nodes.entries()) {
        const parent = parentOf(tree, node);
        if (parent !== null) expect(childrenOf(tree, parent)).toContain(node);
      }
      for (const [old, described] of before) expect(describeTree(old)).toEqual(described);
    }),
    { numRuns: 50 },
  );
});

test("branches long unused are dropped, and the others keep their bytes", () => {
  const { tree: start, root } = addRoot(emptyTree, "root");
  let tree = start;
  let branches: Parameters<typeof keepBranch>[1] = [];
  for (let n = 0; n < 260; n += 1) {
    const draft = new TreeDraft(tree);
    const buffer = new AppendBuffer();
    buffer.append(Buffer.from(`${n}`));
    const sent = { id: `${n}`, buffer, start: 0, end: buffer.length };
    const leaf = { ...draft.nodeBelow(root, inputFor(`${n}`)), sent };
    draft.add(leaf);
    branches = keepBranch(draft, branches, { leaf, roots: [root.index] });
    tree = draft.done();
  }
  const left = childrenOf(tree, nodeAt(tree, root.index)).map(({ sent }) => sent?.id);
  expect([branches.length, left.length, left[0], left.at(-1)]).toEqual([256, 256, "4", "259"]);
});
