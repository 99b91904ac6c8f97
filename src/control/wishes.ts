import { fail, ok, type Result } from "../base/index.ts";
import { verbs, zones } from "../commands/index.ts";
import { type Mode, modes, permissionRules } from "../engine/index.ts";
import {
  type Ask,
  type CommandWhen,
  commandWhens,
  type DecisionScope,
  decisionScopes,
  type PermitAct,
} from "../session/index.ts";
import { pricedCommand } from "./command-bills.ts";
import type { Asked } from "./match.ts";
import { given, type Params, sessionIn } from "./readers.ts";
import type { Repeats } from "./repeats.ts";
import { type Answer, json } from "./respond.ts";

/** A write: where to, and what was sent along. */
export type Wish = {
  readonly asked: Asked;
  readonly params: Params;
  readonly written: unknown;
  /** What was done under keys before. */
  readonly repeats: Repeats<Answer>;
};

const commandProblem =
  'send {"command":"@archive(1..10, \\"done\\")"} or {"command":{"verb":"archive","target":"1..10"}}, ' +
  'with "key" a word of your own if you may have to send it again, and with "when" either "now" or "cache-break"';

/** A command, done or only planned. */
export async function commanded(
  ask: Ask,
  { asked, params, written, repeats }: Wish,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Result<Answer>> {
  const wanted = commandIn(written);
  if (wanted === null || (dryRun && wanted.key !== null)) {
    return fail("AP_INPUT_INVALID", { problem: commandProblem });
  }
  const session = sessionIn(params);
  const { command, key, when } = wanted;
  const act = async (): Promise<Result<Answer>> => {
    const answer = await ask({ type: "act", session, command, dryRun, when, ...given(asked, "stream") });
    return answer.ok ? ok(json(pricedCommand(answer.value))) : answer;
  };
  if (key === null) return await act();
  const wish = JSON.stringify([command, asked.query.get("stream"), when]);
  return await repeats.once(JSON.stringify([session, key]), wish, act);
}

type Commanded = {
  readonly command: string | Readonly<Record<string, unknown>>;
  readonly key: string | null;
  readonly when: CommandWhen;
};

const keyCharsMax = 200;

function commandIn(written: unknown): Commanded | null {
  const fields = fieldsIn(written, ["command", "key", "when"]);
  if (fields === null) return null;
  const { command, key = null } = fields;
  const isKey = key === null || (typeof key === "string" && key !== "" && key.length <= keyCharsMax);
  const isWritten = typeof command === "string" || isRecord(command);
  const when = commandWhens.find((each) => each === (fields["when"] ?? "cache-break"));
  return isKey && isWritten && when !== undefined ? { command, key, when } : null;
}

const decisionProblem =
  'send {"decision":"approve"} or {"decision":"deny","reason":"..."}, and a "scope" that is ' +
  `${decisionScopes.join(", ")} if it is to hold for longer than once`;

/** The user's yes or no. */
export async function decided(
  ask: Ask,
  { params, written }: Wish,
  approval: number | "all",
): Promise<Result<Answer>> {
  const wanted = decisionIn(written);
  if (wanted === null) return fail("AP_INPUT_INVALID", { problem: decisionProblem });
  const answer = await ask({ type: "decide", session: sessionIn(params), approval, ...wanted });
  return answer.ok ? ok(json(answer.value)) : answer;
}

type Decision = {
  readonly to: "approved" | "denied";
  readonly reason: string;
  readonly scope: DecisionScope;
};

function decisionIn(written: unknown): Decision | null {
  const fields = fieldsIn(written, ["decision", "reason", "scope"]);
  if (fields === null) return null;
  const { decision, reason = "" } = fields;
  const scope = decisionScopes.find((each) => each === (fields["scope"] ?? "once"));
  if ((decision !== "approve" && decision !== "deny") || scope === undefined) return null;
  if (typeof reason !== "string") return null;
  return { to: decision === "approve" ? "approved" : "denied", reason, scope };
}

export const modeProblem = 'send {"mode":"observe"}, "ask" or "auto", or null for what is configured';

/** Undefined: it is no mode. */
export function modeIn(written: unknown): Mode | null | undefined {
  const fields = fieldsIn(written, ["mode"]);
  if (fields === null || !Object.hasOwn(fields, "mode")) return undefined;
  const { mode } = fields;
  return mode === null ? null : modes.find((each) => each === mode);
}

export const nameProblem = 'send {"name":"fix-auth"}, or null for its first prompt';

/** Undefined: it is no name. */
export function nameIn(written: unknown): string | null | undefined {
  const { name } = fieldsIn(written, ["name"]) ?? {};
  return name === null || typeof name === "string" ? name : undefined;
}

export const permissionProblem =
  'send {"verb":"archive","zone":"middle","rule":"allow"}: a verb or all, a zone or all, and ' +
  `${permissionRules.join(", ")}, or null to say nothing about it any more`;

export function permissionIn(written: unknown): Omit<PermitAct, "type"> | null {
  const fields = fieldsIn(written, ["verb", "zone", "rule"]);
  const verb = [...verbs, "all" as const].find((each) => each === fields?.["verb"]);
  const zone = [...zones, "all" as const].find((each) => each === (fields?.["zone"] ?? "all"));
  const rule = [...permissionRules, null].find((each) => each === fields?.["rule"]);
  return verb === undefined || zone === undefined || rule === undefined ? null : { verb, zone, rule };
}

/** Nothing but these: a field that is misspelt must not look like one that was left out. */
export function fieldsIn(
  written: unknown,
  names: readonly string[],
): Readonly<Record<string, unknown>> | null {
  return isRecord(written) && Object.keys(written).every((name) => names.includes(name)) ? written : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
