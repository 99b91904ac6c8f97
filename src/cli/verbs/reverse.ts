import type { ReverseAnswer, ReverseVerb, StepRow } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { blockList } from "../format/blocks.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type Outcome, type Problem, stop, succeed } from "../outcome.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";

export const undo = (call: ReadyCall): Promise<number> => reverse(call, "undo");
export const redo = (call: ReadyCall): Promise<number> => reverse(call, "redo");

async function reverse(call: ReadyCall, verb: ReverseVerb): Promise<number> {
  const wanted = wantedStep(call, verb);
  if (!wanted.ok) return giveUp(call, wanted.problem);
  const { session, step } = wanted.value;
  const isTurn = call.flags.has("turn");
  if (isTurn && step !== undefined) {
    return giveUp(call, {
      exit: exitCodes.usage,
      message: "--turn takes back a whole turn; leave the step out.",
    });
  }
  const found = await findSession(call.api, sessionWord(call, session));
  if (!found.ok) return giveUp(call, found.problem);
  const path = sessionPath(found.value.session.id, `/${verb}`);
  const reply = await call.api.post<ReverseAnswer>(
    path,
    isTurn ? { turn: true } : step === undefined ? {} : { step },
  );
  if (!reply.ok) return refuse(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  return show(call, reply.value.value);
}

/** Whoever is told of a frame wants to know which step it belongs to. */
function refuse(call: ReadyCall, problem: Problem): number {
  const exit = giveUp(call, problem);
  if (!isQuiet(call) && /: frame \d+ has changed/.test(problem.message)) {
    call.screen.err("`aperture log` shows that frame and its step: take that one back first.");
  }
  return exit;
}

type Wanted = { readonly session?: string; readonly step?: number };

/** A number alone is a step: whoever means a session by its digits gives more of it, or --session. */
function wantedStep({ operands, flags }: ReadyCall, verb: ReverseVerb): Outcome<Wanted> {
  const [first, second] = operands;
  if (first === undefined) return succeed({});
  const word = second ?? first;
  const isStep = /^[1-9]\d{0,8}$/.test(word);
  if (second === undefined && !isStep) return sessionOnly(flags, first);
  if (!isStep) {
    return stop(exitCodes.usage, `"${word}" is no step: \`aperture log --steps\` shows what ${verb} takes.`);
  }
  const step = Number(word);
  if (second === undefined) return succeed({ step });
  const named = sessionOnly(flags, first);
  return named.ok ? succeed({ ...named.value, step }) : named;
}

function sessionOnly(flags: ReadyCall["flags"], session: string): Outcome<Wanted> {
  return flags.has("session")
    ? stop(exitCodes.usage, "The session is given twice; leave --session out, or the word behind the verb.")
    : succeed({ session });
}

function show(call: ReadyCall, { verb, step, steps, problem, pending, mode }: ReverseAnswer): number {
  const { screen } = call;
  const lead = verb === "undo" ? "took back" : "did again";
  for (const one of steps) screen.out(`${lead} step ${one.step}: ${stepWords(one)}`);
  if (problem !== null) screen.err(`The rest stays: ${printable(problem.message, 300)}`);
  if (isQuiet(call)) return exitCodes.ok;
  if (mode === "observe") screen.err("This session is only observed: what is sent does not change.");
  else if (pending.length > 0) {
    const are = pending.length === 1 ? "is" : "are";
    screen.err(`${blockList(pending)} ${are} shown as before until the next rewrite.`);
  }
  const back = verb === "undo" ? `redo ${step.step}\` does it again.` : `undo ${step.step}\` takes it back.`;
  screen.err(`\`aperture ${back}`);
  return exitCodes.ok;
}

/** `policy trimmed #18 #20 (not used for a while)`. */
export function stepWords({ actor, did, reason }: StepRow): string {
  const why = reason === "" ? "" : ` (${printable(reason, 80)})`;
  return `${printable(actor)} ${printable(did ?? "did something that cannot be read now", 200)}${why}`;
}
