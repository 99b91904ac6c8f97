import type { AppendBuffer } from "./append-buffer.ts";
import type { TreeDraft } from "./ledger-tree.ts";
import { type LedgerNode, type NodeIndex, sentPosition } from "./node.ts";

/** The path of one leaf, whose bytes are in one buffer. */
export type Branch = { readonly buffer: AppendBuffer; readonly leaf: NodeIndex };

const branchesMax = 256;
const branchBytesMax = 32 * 1024 * 1024;

export function branchBytes(branches: readonly Branch[]): number {
  return branches.reduce((sum, { buffer }) => sum + buffer.capacity, 0);
}

/**
 * Puts the whole path of the branch in use into one buffer, and drops branches long unused. Returns the
 * branches, the one in use at the end.
 */
export function keepBranch(
  draft: TreeDraft,
  branches: readonly Branch[],
  { leaf, roots }: { readonly leaf: LedgerNode; readonly roots: readonly NodeIndex[] },
): readonly Branch[] {
  const { buffer } = sentPosition(leaf);
  const isKnown = branches.some((branch) => branch.buffer === buffer);
  if (!isKnown) moveToBuffer(draft, { buffer, leaf: leaf.index });
  const others = branches.filter((branch) => branch.buffer !== buffer);
  let kept: readonly Branch[] = [...others, { buffer, leaf: leaf.index }];
  for (const old of others) {
    if (kept.length <= branchesMax && branchBytes(kept) <= branchBytesMax) break;
    kept = kept.filter((branch) => branch !== old);
    // Other branches may share a part of their path with the one that is dropped.
    for (const branch of kept) moveToBuffer(draft, branch);
    for (const root of roots) dropBranch(draft, draft.at(root), old.buffer);
  }
  return kept;
}

/** Points a path to a forked buffer, which holds the same bytes at the same offsets. */
function moveToBuffer(draft: TreeDraft, { buffer, leaf }: Branch): void {
  for (let at: LedgerNode | null = draft.at(leaf); at !== null; at = draft.parentOf(at)) {
    if (at.sent !== null && at.sent.buffer !== buffer) draft.set({ ...at, sent: { ...at.sent, buffer } });
  }
}

/** Forgets the nodes whose bytes are in this buffer only. */
function dropBranch(draft: TreeDraft, root: LedgerNode, buffer: AppendBuffer): void {
  const left = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    for (const child of draft.childrenOf(node)) {
      if (child.sent?.buffer === buffer) draft.drop(child);
      else left.push(child);
    }
  }
}
