import { ok, type Result } from "../../base/index.ts";
import { modeOf, nextStep, now, type State, setMode } from "../../engine/index.ts";
import type { ModeAnswer } from "../read/command-rows.ts";
import type { Library, SetModeAct } from "../read/questions.ts";
import { openState } from "../read/sessions.ts";
import type { Durable } from "../record/durable.ts";

/** What the user said for a session about how much is done without asking. */
export async function modeAnswer(library: Library, session: string): Promise<Result<ModeAnswer>> {
  const state = await openState(library, session);
  return state.ok ? ok(modeIn(state.value)) : state;
}

/** A step of its own, so that it is undone like any other. */
export async function setSessionMode(
  library: Library,
  act: SetModeAct,
): Promise<Result<ModeAnswer & Durable>> {
  const opened = await openState(library, act.session);
  if (!opened.ok) return opened;
  return await library.within(opened.value.session, (live) => {
    const state = live.state();
    const deltas = setMode({ moment: now(state), actor: "user" }, act.mode);
    if (!deltas.ok) return deltas;
    const cause = { type: "command", step: nextStep(state), reason: "" } as const;
    const done = live.carry({ deltas: deltas.value, actor: "user", cause });
    return done.ok ? ok(modeIn(live.state())) : done;
  });
}

function modeIn(state: State): ModeAnswer {
  return { session: state.session, seq: state.seq, mode: modeOf(now(state)) };
}
