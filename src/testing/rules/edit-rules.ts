import type { Json } from "../../base/index.ts";
import { betaFor } from "../betas.ts";
import { clearedUses, clearThinking, clearToolUses, contextEditsOf } from "../context-edits.ts";
import { isList, isObject, type JsonObject } from "../json-text.ts";
import type { ParsedRequest } from "../parsed-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";

type EditFieldCheck = (value: Json) => boolean;

const compact = "compact_20260112";

const amount =
  (...types: readonly string[]): EditFieldCheck =>
  (value) => {
    if (!isObject(value) || !types.includes(String(value["type"]))) return false;
    const { value: count = null, type: _, ...more } = value;
    return Number.isSafeInteger(count) && Number(count) >= 0 && Object.keys(more).length === 0;
  };
const names: EditFieldCheck = (value) => isList(value) && value.every((name) => typeof name === "string");

/** The fields of each edit; null stands for absent. */
const fields: Readonly<Record<string, Readonly<Record<string, EditFieldCheck>>>> = {
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

/** Checks `context_management`. An edit is refused if it is not documented what it would clear. */
export function* editProblems(request: ParsedRequest): Generator<RequestProblem> {
  const { body, betas, rules } = request;
  const management = body["context_management"] ?? null;
  if (management === null) return;
  const mayManage = betas.has(betaFor.contextManagement) || betas.has("compact-2026-01-12");
  if (!mayManage) yield invalid("context_management", `needs the beta ${betaFor.contextManagement}`);
  if (!rules.hasContextEdits) yield invalid("context_management", "this model has no context editing");
  const edits = isObject(management) ? (management["edits"] ?? []) : [];
  if (!isList(edits) || !edits.every(isObject)) yield invalid("context_management.edits", "expected objects");
  const types = contextEditsOf(request).map((edit) => String(edit["type"]));
  if (new Set(types).size !== types.length) yield invalid("context_management.edits", "each edit comes once");
  if (types.indexOf(clearThinking) > 0)
    yield invalid("context_management.edits", `${clearThinking} comes first`);
  for (const edit of contextEditsOf(request)) yield* editProblemsOf(request, edit);
}

function* editProblemsOf(request: ParsedRequest, edit: JsonObject): Generator<RequestProblem> {
  const { type, ...settings } = edit;
  const path = `context_management.edits: ${String(type)}`;
  const known = fields[String(type)];
  if (known === undefined) return yield invalid(path, "is not known");
  for (const [name, value] of Object.entries(settings)) {
    const check = known[name];
    if (check === undefined) yield invalid(path, `${name} is not known`);
    else if (value !== null && !check(value)) yield invalid(path, `${name} has another form`);
  }
  if (type === clearThinking && (request.thinking?.["type"] ?? "disabled") === "disabled")
    yield invalid(path, "needs thinking");
  if (type === compact && !request.betas.has("compact-2026-01-12"))
    yield invalid(path, "needs the beta compact-2026-01-12");
  if (type === clearToolUses) yield* undocumentedProblems(request, edit, path);
}

/** The real API accepts these edits, but its documentation does not say what they clear. */
function* undocumentedProblems(
  request: ParsedRequest,
  edit: JsonObject,
  path: string,
): Generator<RequestProblem> {
  const isServerUse = ({ type }: { readonly type: string }): boolean =>
    type !== "tool_use" && type.endsWith("_tool_use");
  if (request.messages.some(({ content }) => content.some(isServerUse)))
    yield invalid(path, "nobody says whether tools that run here count");
  const unlimitedTokens = (): number => Number.POSITIVE_INFINITY;
  const [all = new Set(), without = new Set()] = clearedUses(request.messages, edit, unlimitedTokens);
  if (all.size !== without.size || [...all].some((id) => !without.has(id)))
    yield invalid(path, "nobody says whether excluded tools count");
  const isSplit = request.messages.some(({ content }) => {
    const calls = content.filter(({ type }) => type === "tool_use");
    const excluded = isList(edit["exclude_tools"]) ? edit["exclude_tools"] : [];
    const own = calls.filter((call) => !excluded.includes(call["name"] ?? null));
    const cleared = own.filter((call) => without.has(String(call["id"])));
    return cleared.length > 0 && cleared.length < own.length;
  });
  if (isSplit) yield invalid(path, "nobody says which call of one message is the older one");
}
