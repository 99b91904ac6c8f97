import { apertureError, fail, must, ok, type Result } from "../base/index.ts";
import { taintedWhy } from "../commands/index.ts";
import {
  type ApprovalNow,
  approvalOf,
  type Change,
  decideApproval,
  type Moment,
  nextStep,
  now,
  setPermission,
  viewOf,
} from "../engine/index.ts";
import {
  type ApprovalRow,
  approvalRow,
  approvedCommand,
  type CommandLog,
  carryOut,
} from "../session/index.ts";
import { type Agent, usual } from "./agent.ts";
import { inOneGo } from "./in-one-go.ts";
import type { SpaceLog } from "./space-log.ts";
import type { ViewMemory } from "./view-memory.ts";

/** A command of an agent that waits for somebody's word, or how it was decided. */
export type Waiting = Omit<ApprovalRow, "stream" | "actor" | "cut" | "seq"> & {
  readonly stream: string;
  readonly agent: string;
};

export type Decision = {
  /** Told to the agent. */
  readonly reason?: string;
  /** How long the word holds for commands of this kind; left out, for this one alone. */
  readonly scope?: "once" | "turn" | "session";
};

/** What came of a decision, and the step that takes it back; null: nothing was done. */
export type Decided = { readonly outcome: string | null; readonly step: number | null };

/** Those that wait, first come first; or all there ever were. */
export async function approvalsIn(
  log: SpaceLog,
  nameOf: (stream: number) => string,
  { all = false }: { readonly all?: boolean },
): Promise<readonly Waiting[]> {
  const moment = log.moment();
  const known = [...moment.state.approvals.entries()].flatMap(([at]) => approvalOf(moment, at + 1) ?? []);
  const rows: Waiting[] = [];
  for (const approval of known.filter(({ stand }) => all || stand === "waiting")) {
    const { agent } = must(viewOf(moment, approval.view), "an approval has a view");
    const { stream, actor: _, cut: __, seq: ___, ...row } = await approvalRow(log.store, moment, approval);
    rows.push({ ...row, stream: nameOf(stream), agent });
  }
  return rows;
}

export type Deciding = Decision & { readonly approval: number; readonly to: "approved" | "denied" };
export type DecidingPlace = {
  readonly log: SpaceLog;
  readonly memory: ViewMemory;
  /** Null: it is not in this space now, and what is usual counts for it. */
  readonly agent: Agent | null;
};

/** Somebody decides: at once, and for good. What is approved is carried out now, as the agent's. */
export async function decide(place: DecidingPlace, deciding: Deciding): Promise<Result<Decided>> {
  const { log, memory } = place;
  const release = log.store.hold();
  try {
    return await inOneGo(log, memory, (live) => decideIn(place, deciding, live));
  } finally {
    release();
  }
}

async function decideIn(
  place: DecidingPlace,
  { approval: id, to, reason = "", scope = "once" }: Deciding,
  live: CommandLog,
): Promise<Result<Decided>> {
  const waiting = waitingOf(now(live.state()), id);
  if (!waiting.ok) return waiting;
  const done = to === "approved" ? await carryOutApproved(place, waiting.value, live) : nothingDone;
  const { view: viewId, actor, verb } = waiting.value;
  const moment = now(live.state());
  const view = must(viewOf(moment, viewId), "an approval has a view");
  const change: Change = { moment, view, actor: "user" };
  // A yes that comes to nothing must not be told as a success.
  const said = done.isError ? `not done: ${done.outcome}` : reason;
  const decided = decideApproval(change, id, { to, reason: said });
  if (!decided.ok) return decided;
  const noted = live.carry({ deltas: [decided.value], actor: "user", cause: withoutStep });
  if (!noted.ok) return noted;
  const rule = to === "approved" ? "allow" : "deny";
  const permitted = scope === "once" ? ok([]) : setPermission(change, { actor, verb }, { rule, scope });
  if (!permitted.ok) return permitted;
  const cause = { type: "command", step: nextStep(live.state()), reason: "" } as const;
  const ruled = live.carry({ deltas: permitted.value, actor: "user", cause });
  return ruled.ok ? ok({ outcome: done.outcome, step: done.step }) : ruled;
}

const withoutStep = { type: "command", step: null, reason: "" } as const;
/** Who decides is no model: lines of ours need no mark that only we can write. */
const shownMark = "----";
const unread = apertureError("AP_COMMAND_INVALID", { problem: "its text cannot be read any more" });

type Done = Decided & { readonly isError: boolean };
const nothingDone: Done = { outcome: null, step: null, isError: false };

/** By the way any command takes: what is never allowed stays so. */
async function carryOutApproved(
  { log, memory, agent }: DecidingPlace,
  approval: ApprovalNow,
  live: CommandLog,
): Promise<Done> {
  const command = await approvedCommand(approval, log.store);
  if (command === null) return { outcome: unread.message, step: null, isError: true };
  const windowOf = (): number => agent?.budgetTokens ?? usual.budgetTokens;
  const line = { index: { view: memory.view }, ids: memory.ids, doings: memory.doings };
  const carried = await carryOut(
    { store: log.store, windowOf },
    {
      live,
      line,
      model: agent?.model ?? null,
      actor: approval.actor,
      mode: "auto",
      isTainted: approval.why === taintedWhy,
      nonce: shownMark,
      request: null,
      isApproved: true,
    },
    command,
  );
  if (!carried.ok) return { outcome: carried.error.message, step: null, isError: true };
  const { text, step, isError } = carried.value;
  return { outcome: text, step, isError };
}

/** One that can be decided: it is there, and nobody has. */
export function waitingOf(moment: Moment, id: number): Result<ApprovalNow> {
  const approval = approvalOf(moment, id);
  if (approval === null) return fail("AP_APPROVAL_UNKNOWN", { approval: id });
  if (approval.stand === "waiting") return ok(approval);
  return fail("AP_APPROVAL_DECIDED", { approval: id, stand: approval.stand });
}
