import { apertureError, fail, must, ok, type Result } from "../../base/index.ts";
import { taintedWhy, type Verb } from "../../commands/index.ts";
import {
  type ApprovalNow,
  approvalOf,
  type Change,
  decideApproval,
  nextStep,
  now,
  placeOf as placeIn,
  setPermission,
  streamOf,
  viewOf,
  zoneOf,
} from "../../engine/index.ts";
import type { DecideAnswer } from "../read/command-rows.ts";
import { modelIn } from "../read/look.ts";
import { shortMark, withShownMark } from "../read/mark.ts";
import type { DecideAct, Library } from "../read/questions.ts";
import { openState } from "../read/sessions.ts";
import type { Durable } from "../record/durable.ts";
import type { LiveSession } from "../record/live-session.ts";
import type { RecordedLine } from "../record/recorded-line.ts";
import { logOf } from "./command-log.ts";
import { carryOut } from "./commander.ts";
import { approvedCommand } from "./decide-asking.ts";
import { approvalRow } from "./decide-list.ts";
import { noPermissions } from "./kept-permissions.ts";

type Decided = DecideAnswer["rows"][number];

/** The user decides about what waits: at once, and for good. What is approved is carried out now. */
export async function decide(library: Library, act: DecideAct): Promise<Result<DecideAnswer & Durable>> {
  const state = await openState(library, act.session);
  if (!state.ok) return state;
  return await library.within(state.value.session, async (live) => {
    const chosen = chosenApprovals(live, act.approval);
    if (!chosen.ok) return chosen;
    const rows: Decided[] = [];
    for (const approval of chosen.value) {
      const decided = await decideOne(library, { live, act }, approval);
      if (!decided.ok) return decided;
      rows.push(decided.value);
    }
    const { session, seq } = live.state();
    return ok({ session, seq, rows });
  });
}

function chosenApprovals(live: LiveSession, wanted: number | "all"): Result<readonly ApprovalNow[]> {
  const moment = now(live.state());
  if (wanted !== "all") {
    const found = approvalOf(moment, wanted);
    return found === null ? fail("AP_APPROVAL_UNKNOWN", { approval: wanted }) : ok([found]);
  }
  const all = [...live.state().approvals.entries()].flatMap(([at]) => approvalOf(moment, at + 1) ?? []);
  return ok(all.filter(({ stand }) => stand === "waiting"));
}

type Deciding = { readonly live: LiveSession; readonly act: DecideAct };

async function decideOne(
  library: Library,
  { live, act }: Deciding,
  approval: ApprovalNow,
): Promise<Result<Decided>> {
  const { to, reason } = act;
  const { line, change } = placeOf(live, approval);
  const tried = to === "approved" ? await carryOutApproved(library, { live, isDry: true }, approval) : null;
  // A yes that comes to nothing must not be told as a success.
  const said = tried?.isError ? `not done: ${tried.outcome}` : reason;
  const decided = decideApproval(change(), approval.id, { to, reason: said });
  if (!decided.ok) return decided;
  const cause = { type: "command", step: null, reason: "" } as const;
  const noted = live.carry({ deltas: [decided.value], actor: "user", cause, line });
  if (!noted.ok) return noted;
  const ruled =
    act.scope === "always" ? keepAlways(library, { live, act }, approval) : ruleFor({ live, act }, approval);
  if (!ruled.ok) return ruled;
  const done = to === "approved" ? await carryOutApproved(library, { live, isDry: false }, approval) : null;
  const after = now(live.state());
  const row = await approvalRow(library.store, after, must(approvalOf(after, approval.id), "it was decided"));
  return ok({ ...row, outcome: done?.outcome ?? null, step: done?.step ?? null });
}

/** Where the user's word is to hold for longer, that is a permission, and a step of its own. */
function ruleFor({ live, act }: Deciding, approval: ApprovalNow): Result<void> {
  const { to, scope } = act;
  if (scope === "once" || scope === "always") return ok(undefined);
  const { line, change } = placeOf(live, approval);
  const { actor, verb } = approval;
  const rule = ruleOf(to);
  const deltas = setPermission(change(), { actor, verb }, { rule, scope });
  if (!deltas.ok) return deltas;
  const step = nextStep(live.state());
  return live.carry({
    deltas: deltas.value,
    actor: "user",
    cause: { type: "command", step, reason: "" },
    line,
  });
}

function ruleOf(to: DecideAct["to"]): "allow" | "deny" {
  return to === "approved" ? "allow" : "deny";
}

/**
 * For always means: for this verb on blocks where these are now. What is about no block has no zone to be
 * kept to.
 */
function keepAlways(
  { permissions = noPermissions }: Library,
  { live, act }: Deciding,
  { view, actor, verb, blocks }: ApprovalNow,
): Result<void> {
  const moment = now(live.state());
  const own = must(viewOf(moment, view), "an approval has a view");
  const places = blocks.map((block) => must(placeIn(moment, own, block), "an approval is about its blocks"));
  const zones = places.length === 0 ? (["all"] as const) : new Set(places.map(zoneOf));
  for (const zone of zones) {
    // What was asked for was a command, so this is one of their verbs.
    const key = { actor, verb: verb as Verb, zone };
    const kept = permissions.set({ key, rule: ruleOf(act.to) });
    if (!kept.ok) return kept;
  }
  return ok(undefined);
}

type Done = { readonly outcome: string; readonly step: number | null; readonly isError: boolean };
type Doing = { readonly live: LiveSession; readonly isDry: boolean };

/** As whoever asked for it, by the way any command takes: what is never allowed stays so. */
async function carryOutApproved(
  library: Library,
  { live, isDry }: Doing,
  approval: ApprovalNow,
): Promise<Done> {
  const failed = (outcome: string): Done => ({ outcome, step: null, isError: true });
  const command = await approvedCommand(approval, library.store);
  if (command === null) return failed(unread.message);
  const { line, model } = placeOf(live, approval);
  const carried = await carryOut(
    library,
    {
      live: logOf(live, line),
      line,
      model,
      actor: approval.actor,
      mode: "auto",
      isTainted: approval.why === taintedWhy,
      nonce: shortMark,
      request: null,
      isApproved: true,
      isDry,
    },
    command,
  );
  if (!carried.ok) return failed(carried.error.message);
  const { text, step, isError } = carried.value;
  return { outcome: withShownMark(text, shortMark), step, isError };
}

const unread = apertureError("AP_COMMAND_INVALID", { problem: "its text cannot be read any more" });

type ApprovalPlace = {
  readonly line: RecordedLine;
  readonly model: string | null;
  /** As it stands now. */
  readonly change: () => Change;
};

function placeOf(live: LiveSession, approval: ApprovalNow): ApprovalPlace {
  const moment = now(live.state());
  const { stream } = must(viewOf(moment, approval.view), "an approval has a view");
  const opened = must(streamOf(moment, stream), "a view has a stream");
  const line = must(live.line(opened.name), "a stream that was recorded has a line");
  const change = (): Change => {
    const latest = now(live.state());
    return { moment: latest, view: must(viewOf(latest, approval.view), "it is there"), actor: "user" };
  };
  return { line, model: modelIn(moment, opened), change };
}
