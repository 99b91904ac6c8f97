import type { WireRequest } from "../wire.ts";
import { countIn, type Fields, fieldsOf, textIn } from "./schema.ts";

/** One tool use of a request, and whether its result is to be left out. */
export type ToolUse = {
  readonly name: string;
  /** The `type` of the call on the wire. */
  readonly type: string;
  /** Calls of one message have the same number. */
  readonly message: number;
  readonly isCleared: boolean;
};

export const contextManagementBeta = "context-management-2025-06-27";
const clearToolUses = "clear_tool_uses_20250919";

/**
 * The field by which the provider is asked to leave out exactly these results; null where it would leave out
 * others, or where its documentation does not say. The provider forgets the edit with each request and counts
 * from the newest use back, so it is asked for again with every request: what was cleared stays cleared, what
 * is new is kept, and the prompt cache holds. With a `keep` that stands still it would clear one more each
 * time and lose the cache.
 */
export function contextEdit(uses: readonly ToolUse[]): Fields | null {
  const { excluded, kept, cleared, newer } = shapeOf(uses);
  const isPossible =
    cleared.length > 0 &&
    kept.length > 0 &&
    // It is not documented whether tools that run at the provider count as uses.
    uses.every(({ type }) => type === "tool_use") &&
    !cleared.some(({ name }) => excluded.includes(name)) &&
    !isAmbiguous(newer, excluded) &&
    // Nor in which order the calls of one message are counted.
    kept[0]?.message !== cleared.at(-1)?.message;
  if (!isPossible) return null;
  const edit = {
    type: clearToolUses,
    // There is always one use more than those cleared, so this holds however a use is counted.
    trigger: { type: "tool_uses", value: cleared.length },
    keep: { type: "tool_uses", value: kept.length },
    ...(excluded.length === 0 ? {} : { exclude_tools: excluded }),
  };
  return { edits: [edit] };
}

const excluding: readonly string[] = ["context_management", "compaction", "thread"];

/** Whether a body leaves room for an edit of ours: its client asks for none, nor for what excludes one. */
export function takesEdit({ members }: WireRequest): boolean {
  return !members.some(({ key }) => excluding.includes(key));
}

/** How many results an answer says were left out; null where it says nothing of it. */
export function clearedIn(contextManagement: unknown): number | null {
  const applied = fieldsOf(contextManagement)?.["applied_edits"];
  if (!Array.isArray(applied)) return null;
  const edit = applied.map(fieldsOf).find((fields) => textIn(fields, "type") === clearToolUses);
  return edit === undefined ? 0 : countIn(edit, "cleared_tool_uses");
}

/** Whether a refusal is about an edit or about what asks for one. */
export function isEditRefusal(body: Uint8Array): boolean {
  return /context[_-]management|clear_tool_uses/i.test(Buffer.from(body).toString("utf8"));
}

type Shape = {
  readonly cleared: readonly ToolUse[];
  /** Tools with a use that stays among those that go: none of theirs may go. */
  readonly excluded: readonly string[];
  /** What follows the last use that goes. */
  readonly newer: readonly ToolUse[];
  /** Of these, the ones that only their age protects. */
  readonly kept: readonly ToolUse[];
};

function shapeOf(uses: readonly ToolUse[]): Shape {
  const end = uses.findLastIndex(({ isCleared }) => isCleared) + 1;
  const older = uses.slice(0, end);
  const newer = uses.slice(end);
  const staying = older.filter(({ isCleared }) => !isCleared).map(({ name }) => name);
  const excluded = [...new Set(staying)];
  const kept = newer.filter(({ name }) => !excluded.includes(name));
  return { cleared: older.filter(({ isCleared }) => isCleared), excluded, newer, kept };
}

/**
 * Nobody says whether uses of excluded tools count towards `keep`. It makes no difference while none of them
 * is newer than the oldest use that is to be kept.
 */
function isAmbiguous(newer: readonly ToolUse[], excluded: readonly string[]): boolean {
  const first = newer.findIndex(({ name }) => !excluded.includes(name));
  return newer.slice(first).some(({ name }) => excluded.includes(name));
}
