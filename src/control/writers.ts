import { isAbsolute } from "node:path";
import { fail, limits, ok, type Result } from "../base/index.ts";
import type { Ask, ReverseVerb } from "../session/index.ts";
import type { RouteName, WriterName } from "./contract.ts";
import { given, sessionIn } from "./readers.ts";
import { type Answer, json } from "./respond.ts";
import {
  commanded,
  decided,
  fieldsIn,
  modeIn,
  modeProblem,
  nameIn,
  nameProblem,
  permissionIn,
  permissionProblem,
  type Wish,
} from "./wishes.ts";

/** What a route that changes something does. What it is sent is looked at here, before anybody acts on it. */
export type Writer = (ask: Ask, wish: Wish) => Promise<Result<Answer>>;

export const writers: Readonly<Record<WriterName, Writer>> = {
  select: async (ask, { asked, params, written }) => {
    const blocks = blocksIn(written);
    if (blocks === null) return fail("AP_INPUT_INVALID", { problem: blocksProblem });
    const session = sessionIn(params);
    const answer = await ask({ type: "select", session, blocks, ...given(asked, "stream") });
    return answer.ok ? ok(json(answer.value)) : answer;
  },
  undo: (ask, wish) => reversed(ask, wish, "undo"),
  redo: (ask, wish) => reversed(ask, wish, "redo"),
  ops: (ask, wish) => commanded(ask, wish, { dryRun: false }),
  plan: (ask, wish) => commanded(ask, wish, { dryRun: true }),
  decide: (ask, wish) => decided(ask, wish, Number(wish.params["approval"])),
  "decide-all": (ask, wish) => decided(ask, wish, "all"),
  "set-mode": async (ask, { params, written }) => {
    const mode = modeIn(written);
    if (mode === undefined) return fail("AP_INPUT_INVALID", { problem: modeProblem });
    const answer = await ask({ type: "set-mode", session: sessionIn(params), mode });
    return answer.ok ? ok(json(answer.value)) : answer;
  },
  rename: async (ask, { params, written }) => {
    const name = nameIn(written);
    if (name === undefined) return fail("AP_INPUT_INVALID", { problem: nameProblem });
    const answer = await ask({ type: "rename", session: sessionIn(params), name });
    return answer.ok ? ok(json(answer.value)) : answer;
  },
  "delete-session": async (ask, { params, written }) => {
    const { confirm } = fieldsIn(written, ["confirm"]) ?? {};
    if (typeof confirm !== "string") return fail("AP_INPUT_INVALID", { problem: confirmProblem });
    const answer = await ask({ type: "delete-session", session: sessionIn(params), confirm });
    return answer.ok ? ok(json(answer.value)) : answer;
  },
  "set-permission": async (ask, { written }) => {
    const wanted = permissionIn(written);
    if (wanted === null) return fail("AP_INPUT_INVALID", { problem: permissionProblem });
    const answer = await ask({ type: "set-permission", ...wanted });
    return answer.ok ? ok(json(answer.value)) : answer;
  },
  verify: async (ask, { written }) => {
    const { scope = "all" } = fieldsIn(written, ["scope"]) ?? { scope: null };
    if (scope !== "all" && scope !== "tail") return fail("AP_INPUT_INVALID", { problem: scopeProblem });
    const answer = await ask({ type: "verify", scope });
    return answer.ok ? ok(json(answer.value)) : answer;
  },
  gc: async (ask) => {
    const answer = await ask({ type: "gc" });
    return answer.ok ? ok(json(answer.value)) : answer;
  },
  backup: async (ask, { written }) => {
    const { path } = fieldsIn(written, ["path"]) ?? {};
    if (typeof path !== "string" || !isAbsolute(path)) {
      return fail("AP_INPUT_INVALID", { problem: 'send {"path":"/where/to.db"}: a new file' });
    }
    const answer = await ask({ type: "backup", path });
    return answer.ok ? ok(json(answer.value)) : answer;
  },
};

async function reversed(ask: Ask, { params, written }: Wish, verb: ReverseVerb): Promise<Result<Answer>> {
  const wanted = (verb === "undo" ? severalIn(written) : null) ?? stepIn(written);
  if (wanted === null) return fail("AP_INPUT_INVALID", { problem: stepProblem });
  const answer = await ask({ type: "reverse", session: sessionIn(params), verb, ...wanted });
  return answer.ok ? ok(json(answer.value)) : answer;
}

const confirmProblem = 'send {"confirm":"THE ID"}: the id of the session, in full';

const scopeProblem = 'send {"scope":"all"}, or "tail" for the newest frames of every session';

const stepProblem =
  'send {"step":4}, {} for the last one, or to undo a whole turn {"turn":true}, or all since a seq {"to":812}';

/** More than one step; null: it is no such wish. */
function severalIn(written: unknown): { readonly isTurn: true } | { readonly to: number } | null {
  if (JSON.stringify(written) === '{"turn":true}') return { isTurn: true };
  const { to } = fieldsIn(written, ["to"]) ?? {};
  return Number.isSafeInteger(to) && Number(to) >= 0 ? { to: Number(to) } : null;
}

/** Nothing but the step: one that is misspelt must not look like a wish for the last one. */
function stepIn(written: unknown): { readonly step?: number } | null {
  if (typeof written !== "object" || written === null || Array.isArray(written)) return null;
  const names = Object.keys(written);
  if (names.length === 0) return {};
  const { step } = written as { readonly step?: unknown };
  const isStep = Number.isSafeInteger(step) && Number(step) > 0;
  return names.length === 1 && isStep ? { step: Number(step) } : null;
}

export function isWriter(name: RouteName): name is WriterName {
  return Object.hasOwn(writers, name);
}

const blocksProblem = `send {"blocks":[12,27]}: block numbers, at most ${limits.selectedBlocksMax}; an empty list clears`;

/** Nothing but the list: a field that is misspelt must not look like a wish to clear everything. */
function blocksIn(written: unknown): readonly number[] | null {
  if (typeof written !== "object" || written === null) return null;
  const [name, ...more] = Object.keys(written);
  if (name !== "blocks" || more.length > 0) return null;
  const { blocks } = written as { readonly blocks: unknown };
  if (!Array.isArray(blocks) || blocks.length > limits.selectedBlocksMax) return null;
  const isBlock = (one: unknown): one is number => Number.isSafeInteger(one) && Number(one) > 0;
  return blocks.every(isBlock) ? blocks : null;
}
