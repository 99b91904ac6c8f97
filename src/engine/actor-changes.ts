import {
  askApprovals,
  decideApproval,
  expireApprovals,
  setMode,
  setName,
  setPermission,
  spendPermission,
} from "./change-approval.ts";
import {
  archiveBlocks,
  focusBlocks,
  pairTargets,
  pinBlocks,
  propose,
  referenceBlocks,
  restoreBlocks,
  setBlockLevel,
  setSelection,
  singleTargets,
  supersedeBlock,
  unpinBlocks,
  withholdBlocks,
} from "./change-facts.ts";
import { addMemory, setScope } from "./change-memory.ts";
import { expire } from "./expire.ts";

/**
 * Changes of blocks by an actor. Each one checks what the actor may do and returns the deltas to append; a
 * change of several blocks also names those it skipped and why. `propose` applies a rule of the caller's.
 */
export const changes = {
  setLevel: setBlockLevel,
  pin: pinBlocks,
  unpin: unpinBlocks,
  archive: archiveBlocks,
  restore: restoreBlocks,
  focus: focusBlocks,
  select: setSelection,
  withhold: withholdBlocks,
  reference: referenceBlocks,
  supersede: supersedeBlock,
  expire,
  addMemory,
  setScope,
  propose,
  singleTargets,
  pairTargets,
} as const;

/** Changes of the rules a session runs under: approvals, permissions, the mode and the session's name. */
export const ruleChanges = {
  askApprovals,
  decideApproval,
  expireApprovals,
  setPermission,
  spendPermission,
  setMode,
  setName,
} as const;
