import type { ContextEdit, ToolUse } from "../protocol.ts";
import { countField, stringField, wireFields } from "./schema.ts";

export const contextManagementBeta = "context-management-2025-06-27";
const clearToolUses = "clear_tool_uses_20250919";

/**
 * The field that asks the provider to leave out exactly the cleared results; null if it would leave out
 * others, or if its documentation does not say. The provider forgets the edit after each request and counts
 * from the newest use back, so every request asks again with a `keep` that grows with the new uses: cleared
 * results stay cleared, new ones are kept, and the prompt cache holds. With a fixed `keep` it would clear one
 * more result each time and lose the cache.
 */
export function contextEdit(uses: readonly ToolUse[]): ContextEdit | null {
  const { excluded, kept, cleared, newer } = groupUses(uses);
  const isPossible =
    cleared.length > 0 &&
    kept.length > 0 &&
    // It is not documented if tools that run at the provider count as uses.
    uses.every(({ isClients }) => isClients) &&
    !cleared.some(({ name }) => excluded.includes(name)) &&
    !isAmbiguous(newer, excluded) &&
    // It is not documented either in which order the calls of one message are counted.
    kept[0]?.message !== cleared.at(-1)?.message;
  if (!isPossible) return null;
  const edit = {
    type: clearToolUses,
    // There is always one use more than those cleared, so any way to count uses reaches this trigger.
    trigger: { type: "tool_uses", value: cleared.length },
    keep: { type: "tool_uses", value: kept.length },
    ...(excluded.length === 0 ? {} : { exclude_tools: excluded }),
  };
  return { field: JSON.stringify({ edits: [edit] }), cleared: uses.filter((use) => use.isCleared).length };
}

/** The number of results that an answer reports as left out; null if it reports nothing. */
export function clearedResults(contextManagement: unknown): number | null {
  const applied = wireFields(contextManagement)?.["applied_edits"];
  if (!Array.isArray(applied)) return null;
  const edit = applied.map(wireFields).find((fields) => stringField(fields, "type") === clearToolUses);
  return edit === undefined ? 0 : countField(edit, "cleared_tool_uses");
}

type ToolUseGroups = {
  readonly cleared: readonly ToolUse[];
  /** Tools with a kept use older than the last cleared one: none of their uses may be cleared. */
  readonly excluded: readonly string[];
  /** The uses after the last cleared one. */
  readonly newer: readonly ToolUse[];
  /** The newer uses that only their age protects. */
  readonly kept: readonly ToolUse[];
};

function groupUses(uses: readonly ToolUse[]): ToolUseGroups {
  const end = uses.findLastIndex(({ isCleared }) => isCleared) + 1;
  const older = uses.slice(0, end);
  const newer = uses.slice(end);
  const keptNames = older.filter(({ isCleared }) => !isCleared).map(({ name }) => name);
  const excluded = [...new Set(keptNames)];
  const kept = newer.filter(({ name }) => !excluded.includes(name));
  return { cleared: older.filter(({ isCleared }) => isCleared), excluded, newer, kept };
}

/**
 * It is not documented if uses of excluded tools count towards `keep`. It makes no difference while none of
 * them is newer than the oldest kept use.
 */
function isAmbiguous(newer: readonly ToolUse[], excluded: readonly string[]): boolean {
  const first = newer.findIndex(({ name }) => !excluded.includes(name));
  return newer.slice(first).some(({ name }) => excluded.includes(name));
}
