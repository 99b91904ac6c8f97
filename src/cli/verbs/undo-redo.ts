import type { ReverseAnswer } from "../../execute/index.ts";
import type { ReverseVerb } from "../../log/index.ts";
import type { StepRow } from "../../queries/answers/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { blockList } from "../format/block-list.ts";
import { reasonText } from "../format/frame-text.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type CliProblem, type CliResult, stop, succeed } from "../outcome.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

export const undo = (call: ReadyCall): Promise<number> => reverse(call, "undo");
export const redo = (call: ReadyCall): Promise<number> => reverse(call, "redo");

async function reverse(call: ReadyCall, verb: ReverseVerb): Promise<number> {
  const choice = readStep(call);
  if (!choice.ok) return reportProblem(call, choice.problem);
  const { session, step } = choice.value;
  const isTurn = call.flags.has("turn");
  if (isTurn && step !== undefined) {
    return reportProblem(call, {
      exit: exitCodes.usage,
      message: "--turn undoes a whole turn and takes no step.",
    });
  }
  const found = await findSession(call.api, sessionArgument(call, session));
  if (!found.ok) return reportProblem(call, found.problem);
  const path = sessionPath(found.value.session.id, `/${verb}`);
  const reply = await call.api.post<ReverseAnswer>(
    path,
    isTurn ? { turn: true } : step === undefined ? {} : { step },
  );
  if (!reply.ok) return reportConflict(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  return printResult(call, reply.value.value);
}

/** A conflict names a frame; the user needs its step. */
function reportConflict(call: ReadyCall, problem: CliProblem): number {
  const exit = reportProblem(call, problem);
  if (!isQuiet(call) && /: frame \d+ has changed/.test(problem.message)) {
    call.screen.err("`aperture log` shows that frame and its step: undo that step first.");
  }
  return exit;
}

type StepChoice = { readonly session?: string; readonly step?: number };

/** A number alone is a step. A session id of digits needs `--session`, or more of its characters. */
function readStep({ operands, flags }: ReadyCall): CliResult<StepChoice> {
  const [first, second] = operands;
  if (first === undefined) return succeed({});
  const word = second ?? first;
  const isStep = /^[1-9]\d{0,8}$/.test(word);
  if (second === undefined && !isStep) return sessionOnly(flags, first);
  if (!isStep) {
    return stop(exitCodes.usage, `"${word}" is not a step. \`aperture log --steps\` lists the steps.`);
  }
  const step = Number(word);
  if (second === undefined) return succeed({ step });
  const named = sessionOnly(flags, first);
  return named.ok ? succeed({ ...named.value, step }) : named;
}

function sessionOnly(flags: ReadyCall["flags"], session: string): CliResult<StepChoice> {
  return flags.has("session")
    ? stop(exitCodes.usage, "The session is given twice. Use --session or the word after the verb, not both.")
    : succeed({ session });
}

function printResult(call: ReadyCall, { verb, step, steps, problem, pending, mode }: ReverseAnswer): number {
  const { screen } = call;
  const lead = verb === "undo" ? "undid" : "redid";
  for (const one of steps) screen.out(`${lead} step ${one.step}: ${stepText(one)}`);
  if (problem !== null) screen.err(`The other steps stay: ${printable(problem.message, 300)}`);
  if (isQuiet(call)) return exitCodes.ok;
  if (mode === "observe") screen.err("This session is only observed: its requests do not change.");
  else if (pending.length > 0) {
    const are = pending.length === 1 ? "is" : "are";
    screen.err(`${blockList(pending)} ${are} sent as before until the next rewrite.`);
  }
  const hint = verb === "undo" ? `redo ${step.step}\` redoes it.` : `undo ${step.step}\` undoes it.`;
  screen.err(`\`aperture ${hint}`);
  return exitCodes.ok;
}

/** `policy trimmed #18 #20 (not used for a while)`. */
export function stepText({ actor, did, reason }: StepRow): string {
  return `${printable(actor)} ${printable(did ?? "made a change that cannot be read", 200)}${reasonText(reason)}`;
}
