import { assert, must, PagedTable } from "../base/index.ts";
import { AppendBuffer } from "./append-buffer.ts";
import { type LedgerNode, type NodeIndex, type NodeInput, shownWhole, type UnitFacts } from "./node.ts";

/**
 * The units of a stream, each below everything that is sent before it. The tables are persistent: a changed
 * tree shares what did not change with the tree before, which stays as it was.
 */
export type LedgerTree = {
  readonly nodes: PagedTable<LedgerNode>;
  /** The nodes below each node, the oldest first. */
  readonly children: PagedTable<readonly NodeIndex[]>;
};

export const emptyTree: LedgerTree = { nodes: PagedTable.empty(), children: PagedTable.empty() };

export function nodeAt({ nodes }: LedgerTree, index: NodeIndex): LedgerNode {
  return must(nodes.get(index), "the tree has the node");
}

export function parentOf(tree: LedgerTree, { parent }: LedgerNode): LedgerNode | null {
  return parent === null ? null : nodeAt(tree, parent);
}

/** The nodes below a node, the oldest first. */
export function childrenOf(tree: LedgerTree, { index }: LedgerNode): readonly LedgerNode[] {
  return (tree.children.get(index) ?? []).map((child) => nodeAt(tree, child));
}

/** The nodes below a node, the newest first. */
export function newestBelow(tree: LedgerTree, node: LedgerNode): readonly LedgerNode[] {
  return [...childrenOf(tree, node)].reverse();
}

/** The nodes from below the root to the given node, itself included. */
export function pathTo(tree: LedgerTree, node: LedgerNode): readonly LedgerNode[] {
  const path: LedgerNode[] = [];
  for (let at = node; at.parent !== null; at = nodeAt(tree, at.parent)) path.push(at);
  return path.reverse();
}

/** The nodes on the path to a node that were sent. An answer that the client has not repeated was not. */
export function sentPathTo(tree: LedgerTree, node: LedgerNode): readonly LedgerNode[] {
  return pathTo(tree, node).filter(({ sent }) => sent !== null);
}

/** Counts the nodes with a key on the path to a node. */
export function countKeyOnPath(tree: LedgerTree, node: LedgerNode, key: string): number {
  return new TreeDraft(tree).countKeyOnPath(node, key);
}

const rootFacts: UnitFacts = {
  protocol: "anthropic",
  key: "",
  kind: "system",
  part: "empty",
  wireType: "",
  callId: null,
  hash: "",
};

const rootInput: NodeInput = {
  origin: "client",
  opensMessage: false,
  facts: rootFacts,
  wrapping: { role: "", head: "", tail: "" },
  extra: null,
  isRewritten: false,
  isForeignReasoning: false,
  original: null,
  firstForm: null,
  numbered: null,
  shown: shownWhole,
  isHeader: false,
  keyCount: null,
};

/** A tree with one more root: the node below which the messages of a head hang. */
export function addRoot(
  tree: LedgerTree,
  id: string,
): { readonly tree: LedgerTree; readonly root: LedgerNode } {
  const draft = new TreeDraft(tree);
  const sent = { id, buffer: new AppendBuffer(), start: 0, end: 0 };
  const root = { ...newNode(draft.nextIndex, null, rootInput), sent, isAnnounced: true };
  draft.set(root);
  return { tree: draft.done(), root };
}

/** Copies field by field: nodes are made by the thousand, and spreading would take most of the time. */
function newNode(index: NodeIndex, parent: LedgerNode | null, input: NodeInput): LedgerNode {
  const { facts, origin, wrapping, opensMessage, extra, isRewritten, isForeignReasoning, original } = input;
  const { firstForm, numbered, shown, isHeader, keyCount } = input;
  const opensSelfClearing = opensMessage && wrapping.isSelfClearing === true;
  return {
    index,
    parent: parent?.index ?? null,
    root: parent?.root ?? index,
    origin,
    opensMessage,
    facts,
    wrapping,
    extra,
    isRewritten,
    isForeignReasoning,
    original,
    firstForm,
    hasOwn: parent?.hasOwn === true || origin === "aperture",
    hasSelfClearing: parent?.hasSelfClearing === true || opensSelfClearing,
    hasClearedResults: parent?.hasClearedResults === true || shown.isCleared === true,
    knownHashes: [],
    model: parent?.model ?? null,
    sent: null,
    answerBytes: null,
    isLeaf: false,
    numbered,
    shown,
    isHeader,
    isAnnounced: false,
    droppedTail: null,
    keyCount,
  };
}

/** The changes of one operation. They are collected and become a tree of their own when it is done. */
export class TreeDraft {
  readonly #tree: LedgerTree;
  readonly #nodes = new Map<NodeIndex, LedgerNode | undefined>();
  readonly #children = new Map<NodeIndex, readonly NodeIndex[] | undefined>();
  #nextIndex: NodeIndex;

  constructor(tree: LedgerTree) {
    this.#tree = tree;
    this.#nextIndex = tree.nodes.size;
  }

  /** The index of the next new node. No index is used twice. */
  get nextIndex(): NodeIndex {
    return this.#nextIndex;
  }

  at(index: NodeIndex): LedgerNode {
    return must(this.#nodes.has(index) ? this.#nodes.get(index) : this.#tree.nodes.get(index), "it exists");
  }

  parentOf({ parent }: LedgerNode): LedgerNode | null {
    return parent === null ? null : this.at(parent);
  }

  childrenOf({ index }: LedgerNode): readonly LedgerNode[] {
    return this.#indexesBelow(index).map((child) => this.at(child));
  }

  /** Counts the nodes with a key on the path to a node, up to the nearest that knows the count before it. */
  countKeyOnPath(node: LedgerNode, key: string): number {
    let count = 0;
    for (let at: LedgerNode | null = node; at !== null; at = this.parentOf(at)) {
      if (at.facts.key !== key) continue;
      if (at.keyCount !== null) return count + at.keyCount;
      count += 1;
    }
    return count;
  }

  set(node: LedgerNode): void {
    this.#nodes.set(node.index, node);
    this.#nextIndex = Math.max(this.#nextIndex, node.index + 1);
  }

  /** A new node, which becomes part of the tree when it is added. */
  nodeBelow(parent: LedgerNode, input: NodeInput): LedgerNode {
    return newNode(this.#nextIndex, parent, input);
  }

  add(node: LedgerNode): void {
    const parent = must(node.parent, "a root is set, not added");
    assert(node.index === this.#nextIndex, "a new node has the next index");
    this.set(node);
    this.#children.set(parent, [...this.#indexesBelow(parent), node.index]);
  }

  /** Forgets a node and everything below it. */
  drop(node: LedgerNode): void {
    const { parent } = node;
    if (parent !== null)
      this.#children.set(
        parent,
        this.#indexesBelow(parent).filter((child) => child !== node.index),
      );
    const left = [node.index];
    for (let index = left.pop(); index !== undefined; index = left.pop()) {
      left.push(...this.#indexesBelow(index));
      this.#nodes.set(index, undefined);
      this.#children.set(index, undefined);
    }
  }

  done(): LedgerTree {
    if (this.#nodes.size === 0) return this.#tree;
    return {
      nodes: this.#tree.nodes.withAll(this.#nodes),
      children: this.#tree.children.withAll(this.#children),
    };
  }

  #indexesBelow(index: NodeIndex): readonly NodeIndex[] {
    if (this.#children.has(index)) return this.#children.get(index) ?? [];
    return this.#tree.children.get(index) ?? [];
  }
}
