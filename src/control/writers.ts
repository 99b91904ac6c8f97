import { isAbsolute } from "node:path";
import { fail, limits, ok, type Result } from "../base/index.ts";
import type { Asker } from "../host/index.ts";
import type { ReverseVerb } from "../log/index.ts";
import type { RouteName, WriterName } from "./contract.ts";
import { numberParams, sessionParam } from "./readers.ts";
import { type HttpAnswer, jsonAnswer } from "./respond.ts";
import {
  decideFromBody,
  executeFromBody,
  modeProblem,
  nameProblem,
  parseFields,
  parseMode,
  parseName,
  parsePermission,
  permissionProblem,
  type WriteRequest,
} from "./write-requests.ts";

/** Handles a route that changes something. It validates the body before it asks for the change. */
export type Writer = (ask: Asker, write: WriteRequest) => Promise<Result<HttpAnswer>>;

export const writers: Readonly<Record<WriterName, Writer>> = {
  select: async (ask, { request, params, body }) => {
    const blocks = parseBlocks(body);
    if (blocks === null) return fail("AP_INPUT_INVALID", { problem: blocksProblem });
    const session = sessionParam(params);
    const answer = await ask({ type: "select", session, blocks, ...numberParams(request, "stream") });
    return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
  },
  undo: (ask, write) => reverseFromBody(ask, write, "undo"),
  redo: (ask, write) => reverseFromBody(ask, write, "redo"),
  ops: (ask, write) => executeFromBody(ask, write, { dryRun: false }),
  plan: (ask, write) => executeFromBody(ask, write, { dryRun: true }),
  decide: (ask, write) => decideFromBody(ask, write, Number(write.params["approval"])),
  "decide-all": (ask, write) => decideFromBody(ask, write, "all"),
  "set-mode": async (ask, { params, body }) => {
    const mode = parseMode(body);
    if (mode === undefined) return fail("AP_INPUT_INVALID", { problem: modeProblem });
    const answer = await ask({ type: "set-mode", session: sessionParam(params), mode });
    return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
  },
  rename: async (ask, { params, body }) => {
    const name = parseName(body);
    if (name === undefined) return fail("AP_INPUT_INVALID", { problem: nameProblem });
    const answer = await ask({ type: "rename", session: sessionParam(params), name });
    return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
  },
  "delete-session": async (ask, { params, body }) => {
    const { confirm } = parseFields(body, ["confirm"]) ?? {};
    if (typeof confirm !== "string") return fail("AP_INPUT_INVALID", { problem: confirmProblem });
    const answer = await ask({ type: "delete-session", session: sessionParam(params), confirm });
    return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
  },
  "set-permission": async (ask, { body }) => {
    const parsed = parsePermission(body);
    if (parsed === null) return fail("AP_INPUT_INVALID", { problem: permissionProblem });
    const answer = await ask({ type: "set-permission", ...parsed });
    return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
  },
  verify: async (ask, { body }) => {
    const { scope = "all" } = parseFields(body, ["scope"]) ?? { scope: null };
    if (scope !== "all" && scope !== "tail") return fail("AP_INPUT_INVALID", { problem: scopeProblem });
    const answer = await ask({ type: "verify", scope });
    return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
  },
  gc: async (ask) => {
    const answer = await ask({ type: "gc" });
    return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
  },
  backup: async (ask, { body }) => {
    const { path } = parseFields(body, ["path"]) ?? {};
    if (typeof path !== "string" || !isAbsolute(path)) {
      return fail("AP_INPUT_INVALID", { problem: 'send {"path":"/where/to.db"}: a new file' });
    }
    const answer = await ask({ type: "backup", path });
    return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
  },
};

async function reverseFromBody(
  ask: Asker,
  { params, body }: WriteRequest,
  verb: ReverseVerb,
): Promise<Result<HttpAnswer>> {
  const parsed = (verb === "undo" ? parseSteps(body) : null) ?? parseStep(body);
  if (parsed === null) return fail("AP_INPUT_INVALID", { problem: stepProblem });
  const answer = await ask({ type: "reverse", session: sessionParam(params), verb, ...parsed });
  return answer.ok ? ok(jsonAnswer(answer.value)) : answer;
}

const confirmProblem = 'send {"confirm":"THE ID"}: the id of the session, in full';

const scopeProblem = 'send {"scope":"all"}, or "tail" for the newest frames of every session';

const stepProblem =
  'send {"step":4}, {} for the last one, or to undo a whole turn {"turn":true}, or all since a seq {"to":812}';

/** Null if the body does not ask for several steps. */
function parseSteps(body: unknown): { readonly isTurn: true } | { readonly to: number } | null {
  if (JSON.stringify(body) === '{"turn":true}') return { isTurn: true };
  const { to } = parseFields(body, ["to"]) ?? {};
  return Number.isSafeInteger(to) && Number(to) >= 0 ? { to: Number(to) } : null;
}

/** Null if there are other fields: a misspelt step must not look like a request for the last one. */
function parseStep(body: unknown): { readonly step?: number } | null {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return null;
  const names = Object.keys(body);
  if (names.length === 0) return {};
  const { step } = body as { readonly step?: unknown };
  const isStep = Number.isSafeInteger(step) && Number(step) > 0;
  return names.length === 1 && isStep ? { step: Number(step) } : null;
}

export function isWriter(name: RouteName): name is WriterName {
  return Object.hasOwn(writers, name);
}

const blocksProblem = `send {"blocks":[12,27]}: block numbers, at most ${limits.selectedBlocksMax}; an empty list clears`;

/** Null if there are other fields: a misspelt list must not look like a request to clear the selection. */
function parseBlocks(body: unknown): readonly number[] | null {
  if (typeof body !== "object" || body === null) return null;
  const [name, ...more] = Object.keys(body);
  if (name !== "blocks" || more.length > 0) return null;
  const { blocks } = body as { readonly blocks: unknown };
  if (!Array.isArray(blocks) || blocks.length > limits.selectedBlocksMax) return null;
  const isBlock = (each: unknown): each is number => Number.isSafeInteger(each) && Number(each) > 0;
  return blocks.every(isBlock) ? blocks : null;
}
