import { fail, ok, type Result } from "../base/index.ts";
import { verbs, zones } from "../commands/index.ts";
import { type Mode, modes, permissionRules } from "../engine/frames/index.ts";
import {
  type DecisionScope,
  decisionScopes,
  type PermitAct,
  type RewriteTime,
  rewriteTimes,
} from "../execute/index.ts";
import type { Asker } from "../host/index.ts";
import type { IdempotencyCache } from "./idempotency.ts";
import type { ControlRequest } from "./match-route.ts";
import { priceCommand } from "./priced-commands.ts";
import { numberParams, type RouteParams, sessionParam } from "./readers.ts";
import { type HttpAnswer, jsonAnswer } from "./respond.ts";

/** A request that changes something, with its parsed body. */
export type WriteRequest = {
  readonly request: ControlRequest;
  readonly params: RouteParams;
  readonly body: unknown;
  /** The answers to earlier requests with a key. */
  readonly idempotency: IdempotencyCache<HttpAnswer>;
};

const commandProblem =
  'send {"command":"@archive(1..10, \\"done\\")"} or {"command":{"verb":"archive","target":"1..10"}}, ' +
  'with "key" a word of your own if you may have to send it again, and with "when" either "now" or "cache-break"';

/** Executes a command, or only plans it. */
export async function executeFromBody(
  ask: Asker,
  { request, params, body, idempotency }: WriteRequest,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Result<HttpAnswer>> {
  const parsed = parseCommandBody(body);
  if (parsed === null || (dryRun && parsed.key !== null)) {
    return fail("AP_INPUT_INVALID", { problem: commandProblem });
  }
  const session = sessionParam(params);
  const { command, key, when } = parsed;
  const act = async (): Promise<Result<HttpAnswer>> => {
    const stream = numberParams(request, "stream");
    const answer = await ask({ type: "act", session, command, dryRun, when, ...stream });
    return answer.ok ? ok(jsonAnswer(priceCommand(answer.value))) : answer;
  };
  if (key === null) return await act();
  const fingerprint = JSON.stringify([command, request.query.get("stream"), when]);
  return await idempotency.once(JSON.stringify([session, key]), fingerprint, act);
}

type CommandRequestBody = {
  readonly command: string | Readonly<Record<string, unknown>>;
  readonly key: string | null;
  readonly when: RewriteTime;
};

const keyCharsMax = 200;

function parseCommandBody(body: unknown): CommandRequestBody | null {
  const fields = parseFields(body, ["command", "key", "when"]);
  if (fields === null) return null;
  const { command, key = null } = fields;
  const isKey = key === null || (typeof key === "string" && key !== "" && key.length <= keyCharsMax);
  const isCommand = typeof command === "string" || isRecord(command);
  const when = rewriteTimes.find((each) => each === (fields["when"] ?? "cache-break"));
  return isKey && isCommand && when !== undefined ? { command, key, when } : null;
}

const decisionProblem =
  'send {"decision":"approve"} or {"decision":"deny","reason":"..."}, and a "scope" that is ' +
  `${decisionScopes.join(", ")} if it is to hold for longer than once`;

/** Approves or denies commands that wait. */
export async function decideFromBody(
  ask: Asker,
  { params, body }: WriteRequest,
  approval: number | "all",
): Promise<Result<HttpAnswer>> {
  const parsed = parseDecision(body);
  if (parsed === null) return fail("AP_INPUT_INVALID", { problem: decisionProblem });
  const answer = await ask({ type: "decide", session: sessionParam(params), approval, ...parsed });
  return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
}

type DecisionBody = {
  readonly to: "approved" | "denied";
  readonly reason: string;
  readonly scope: DecisionScope;
};

function parseDecision(body: unknown): DecisionBody | null {
  const fields = parseFields(body, ["decision", "reason", "scope"]);
  if (fields === null) return null;
  const { decision, reason = "" } = fields;
  const scope = decisionScopes.find((each) => each === (fields["scope"] ?? "once"));
  if ((decision !== "approve" && decision !== "deny") || scope === undefined) return null;
  if (typeof reason !== "string") return null;
  return { to: decision === "approve" ? "approved" : "denied", reason, scope };
}

export const modeProblem = 'send {"mode":"observe"}, "ask" or "auto", or null for what is configured';

/** Undefined if the body holds no mode. */
export function parseMode(body: unknown): Mode | null | undefined {
  const fields = parseFields(body, ["mode"]);
  if (fields === null || !Object.hasOwn(fields, "mode")) return undefined;
  const { mode } = fields;
  return mode === null ? null : modes.find((each) => each === mode);
}

export const nameProblem = 'send {"name":"fix-auth"}, or null for its first prompt';

/** Undefined if the body holds no name. */
export function parseName(body: unknown): string | null | undefined {
  const { name } = parseFields(body, ["name"]) ?? {};
  return name === null || typeof name === "string" ? name : undefined;
}

export const permissionProblem =
  'send {"verb":"archive","zone":"middle","rule":"allow"}: a verb or all, a zone or all, and ' +
  `${permissionRules.join(", ")}, or null to say nothing about it any more`;

export function parsePermission(body: unknown): Omit<PermitAct, "type"> | null {
  const fields = parseFields(body, ["verb", "zone", "rule"]);
  const verb = [...verbs, "all" as const].find((each) => each === fields?.["verb"]);
  const zone = [...zones, "all" as const].find((each) => each === (fields?.["zone"] ?? "all"));
  const rule = [...permissionRules, null].find((each) => each === fields?.["rule"]);
  return verb === undefined || zone === undefined || rule === undefined ? null : { verb, zone, rule };
}

export const manageLoginsProblem = 'send {"managesLogins":true}, or false';

/** Null if the body holds no answer. */
export function parseManageLogins(body: unknown): boolean | null {
  const { managesLogins } = parseFields(body, ["managesLogins"]) ?? {};
  return typeof managesLogins === "boolean" ? managesLogins : null;
}

/** Null if there are other fields: a misspelt field must not look like a missing one. */
export function parseFields(
  body: unknown,
  names: readonly string[],
): Readonly<Record<string, unknown>> | null {
  return isRecord(body) && Object.keys(body).every((name) => names.includes(name)) ? body : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
