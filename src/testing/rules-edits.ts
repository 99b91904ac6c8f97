import type { Json } from "../base/index.ts";
import { betaFor } from "./betas.ts";
import { clearedUses, clearThinking, clearToolUses, editsOf } from "./context-edits.ts";
import { isList, isObject, type JsonObject } from "./json-text.ts";
import { invalid, type Problem } from "./problem.ts";
import type { ParsedRequest } from "./request.ts";

type Check = (value: Json) => boolean;

const compact = "compact_20260112";

const amount =
  (...types: readonly string[]): Check =>
  (value) => {
    if (!isObject(value) || !types.includes(String(value["type"]))) return false;
    const { value: count = null, type: _, ...more } = value;
    return Number.isSafeInteger(count) && Number(count) >= 0 && Object.keys(more).length === 0;
  };
const names: Check = (value) => isList(value) && value.every((name) => typeof name === "string");

/** What each edit may say; null stands for absent. */
const fields: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  [clearToolUses]: {
    trigger: amount("input_tokens", "tool_uses"),
    keep: amount("tool_uses"),
    clear_at_least: amount("input_tokens"),
    exclude_tools: names,
    clear_tool_inputs: (value) => typeof value === "boolean" || names(value),
  },
  [clearThinking]: {
    keep: (value) => value === "all" || (amount("thinking_turns")(value) && !isNone(value)),
  },
  [compact]: {
    trigger: amount("input_tokens"),
    instructions: (value) => typeof value === "string",
    pause_after_compaction: (value) => typeof value === "boolean",
  },
};

function isNone(value: Json): boolean {
  return isObject(value) && value["value"] === 0;
}

/** What may be asked for in `context_management`; where it is not clear what would be cleared, nothing. */
export function* editProblems(request: ParsedRequest): Generator<Problem> {
  const { body, betas, rules } = request;
  const management = body["context_management"] ?? null;
  if (management === null) return;
  const mayManage = betas.has(betaFor.contextManagement) || betas.has("compact-2026-01-12");
  if (!mayManage) yield invalid("context_management", `needs the beta ${betaFor.contextManagement}`);
  if (!rules.contextEdits) yield invalid("context_management", "this model has no context editing");
  const edits = isObject(management) ? (management["edits"] ?? []) : [];
  if (!isList(edits) || !edits.every(isObject)) yield invalid("context_management.edits", "expected objects");
  const types = editsOf(request).map((edit) => String(edit["type"]));
  if (new Set(types).size !== types.length) yield invalid("context_management.edits", "each edit comes once");
  if (types.indexOf(clearThinking) > 0)
    yield invalid("context_management.edits", `${clearThinking} comes first`);
  for (const edit of editsOf(request)) yield* oneEdit(request, edit);
}

function* oneEdit(request: ParsedRequest, edit: JsonObject): Generator<Problem> {
  const { type, ...given } = edit;
  const place = `context_management.edits: ${String(type)}`;
  const known = fields[String(type)];
  if (known === undefined) return yield invalid(place, "is not known");
  for (const [name, value] of Object.entries(given)) {
    const check = known[name];
    if (check === undefined) yield invalid(place, `${name} is not known`);
    else if (value !== null && !check(value)) yield invalid(place, `${name} has another form`);
  }
  if (type === clearThinking && (request.thinking?.["type"] ?? "disabled") === "disabled")
    yield invalid(place, "needs thinking");
  if (type === compact && !request.betas.has("compact-2026-01-12"))
    yield invalid(place, "needs the beta compact-2026-01-12");
  if (type === clearToolUses) yield* unclear(request, edit, place);
}

/** The real interface does something here; which thing, its documentation does not say. */
function* unclear(request: ParsedRequest, edit: JsonObject, place: string): Generator<Problem> {
  const foreign = ({ type }: { readonly type: string }): boolean =>
    type !== "tool_use" && type.endsWith("_tool_use");
  if (request.messages.some(({ content }) => content.some(foreign)))
    yield invalid(place, "nobody says whether tools that run here count");
  const always = (): number => Number.POSITIVE_INFINITY;
  const [all = new Set(), without = new Set()] = clearedUses(request.messages, edit, always);
  if (all.size !== without.size || [...all].some((id) => !without.has(id)))
    yield invalid(place, "nobody says whether excluded tools count");
  const isSplit = request.messages.some(({ content }) => {
    const calls = content.filter(({ type }) => type === "tool_use");
    const excluded = isList(edit["exclude_tools"]) ? edit["exclude_tools"] : [];
    const own = calls.filter((call) => !excluded.includes(call["name"] ?? null));
    const gone = own.filter((call) => without.has(String(call["id"])));
    return gone.length > 0 && gone.length < own.length;
  });
  if (isSplit) yield invalid(place, "nobody says which call of one message is the older one");
}
