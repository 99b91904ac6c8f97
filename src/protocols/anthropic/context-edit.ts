import { countIn, type Fields, fieldsOf, textIn } from "./schema.ts";

/** One tool use of a request, as a rewrite wants it to be shown. */
export type ToolUseWish = {
  readonly name: string;
  /** The `type` of the call on the wire. */
  readonly type: string;
  /** keep: as it is. result: only the result goes. both: what was asked goes with it. */
  readonly wish: "keep" | "result" | "both";
};

export type EditAsked = {
  /** Every tool use of the request that will be sent, oldest first. */
  readonly uses: readonly ToolUseWish[];
  /** Whether the rewrite changes anything besides what the wishes say. */
  readonly changesMore: boolean;
  /** The client's body: only what stands in the way of an edit is looked at. */
  readonly body: Fields;
  /** Whether model and platform have context edits. */
  readonly isOffered: boolean;
};

/** Why the provider's own edit cannot do what a rewrite wants. */
export type EditObstacle =
  | "not-offered"
  | "changes-more"
  | "nothing-to-clear"
  | "foreign-tools"
  | "not-the-oldest"
  | "keeps-nothing"
  | "keep-is-ambiguous"
  | "inputs-differ"
  | "client-edits"
  | "excluded-by-request";

export type EditAnswer =
  | {
      /** The whole field for the body: the client's edits and ours. */
      readonly contextManagement: Fields;
      readonly beta: string;
      /** How many tool uses the provider should report as cleared. */
      readonly cleared: number;
    }
  | { readonly contextManagement: null; readonly why: EditObstacle };

export const contextManagementBeta = "context-management-2025-06-27";
const clearToolUses = "clear_tool_uses_20250919";
const clearThinking = "clear_thinking_20251015";

/**
 * Whether the provider's clearing of tool uses shows exactly what a rewrite wants, and the field that asks
 * for it. The provider forgets the edit with each request and counts from the newest tool use back, so it is
 * asked for again with every request: what was cleared stays cleared, what is new is kept, and the prompt
 * cache holds. With a `keep` that stands still it would clear one more each time and lose the cache.
 */
export function contextEdit(asked: EditAsked): EditAnswer {
  const why = obstacleOf(asked) ?? obstacleIn(asked.uses);
  if (why !== null) return { contextManagement: null, why };
  const { excluded, kept, cleared } = shapeOf(asked.uses);
  const edit = {
    type: clearToolUses,
    // There is always one use more than those cleared, so this holds however a use is counted.
    trigger: { type: "tool_uses", value: cleared.length },
    keep: { type: "tool_uses", value: kept.length },
    ...(excluded.length === 0 ? {} : { exclude_tools: excluded }),
    ...(cleared.some(({ wish }) => wish === "both") ? { clear_tool_inputs: true } : {}),
  };
  const client = fieldsOf(asked.body["context_management"]);
  const contextManagement = { ...client, edits: [...(clientEdits(asked.body) ?? []), edit] };
  return { contextManagement, beta: contextManagementBeta, cleared: cleared.length };
}

/** What an answer says that was cleared; null if nothing was, or nothing is said. */
export function clearedIn(
  contextManagement: unknown,
): { readonly uses: number; readonly tokens: number } | null {
  const applied = fieldsOf(contextManagement)?.["applied_edits"];
  if (!Array.isArray(applied)) return null;
  const edit = applied.map(fieldsOf).find((fields) => textIn(fields, "type") === clearToolUses);
  if (edit === undefined) return null;
  return { uses: countIn(edit, "cleared_tool_uses"), tokens: countIn(edit, "cleared_input_tokens") };
}

function obstacleOf({ isOffered, changesMore, body }: EditAsked): EditObstacle | null {
  if (!isOffered) return "not-offered";
  if (changesMore) return "changes-more";
  if (isSet(body, "compaction") || isSet(body, "thread")) return "excluded-by-request";
  return clientEdits(body) === null ? "client-edits" : null;
}

function isSet(body: Fields, name: string): boolean {
  return (body[name] ?? null) !== null;
}

/**
 * The client's own edits, if ours may stand behind them. Clearing of reasoning must come first and goes
 * together with ours; of anything else nobody says what the two would do to each other.
 */
function clientEdits(body: Fields): readonly unknown[] | null {
  const field = fieldsOf(body["context_management"] ?? {});
  const edits = field === null ? null : (field["edits"] ?? []);
  if (!Array.isArray(edits)) return null;
  return edits.every((edit) => textIn(fieldsOf(edit), "type") === clearThinking) ? edits : null;
}

function obstacleIn(uses: readonly ToolUseWish[]): EditObstacle | null {
  // It is not documented whether tools that run at the provider count as uses.
  if (uses.some(({ type }) => type !== "tool_use")) return "foreign-tools";
  const { excluded, kept, cleared, newer } = shapeOf(uses);
  if (cleared.length === 0) return "nothing-to-clear";
  if (cleared.some(({ name }) => excluded.includes(name))) return "not-the-oldest";
  if (new Set(cleared.map(({ wish }) => wish)).size > 1) return "inputs-differ";
  if (kept.length === 0) return "keeps-nothing";
  return isAmbiguous(newer, excluded) ? "keep-is-ambiguous" : null;
}

type Shape = {
  readonly cleared: readonly ToolUseWish[];
  /** Tools with a use that stays among those that go: none of theirs may go. */
  readonly excluded: readonly string[];
  /** What follows the last use that goes. */
  readonly newer: readonly ToolUseWish[];
  /** Of these, the ones that only their age protects. */
  readonly kept: readonly ToolUseWish[];
};

function shapeOf(uses: readonly ToolUseWish[]): Shape {
  const end = uses.findLastIndex(({ wish }) => wish !== "keep") + 1;
  const older = uses.slice(0, end);
  const newer = uses.slice(end);
  const staying = older.filter(({ wish }) => wish === "keep").map(({ name }) => name);
  const excluded = [...new Set(staying)];
  const kept = newer.filter(({ name }) => !excluded.includes(name));
  return { cleared: older.filter(({ wish }) => wish !== "keep"), excluded, newer, kept };
}

/**
 * Nobody says whether uses of excluded tools count towards `keep`. It makes no difference while none of them
 * is newer than the oldest use that is to be kept.
 */
function isAmbiguous(newer: readonly ToolUseWish[], excluded: readonly string[]): boolean {
  const first = newer.findIndex(({ name }) => !excluded.includes(name));
  return newer.slice(first).some(({ name }) => excluded.includes(name));
}
