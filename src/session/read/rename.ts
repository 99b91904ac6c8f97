import { fail, ok, type Result } from "../../base/index.ts";
import { nextStep, now, setName } from "../../engine/index.ts";
import type { Durable } from "../record/durable.ts";
import type { Library, RenameAct } from "./questions.ts";
import type { NamedAnswer } from "./rows.ts";
import { lineFrom, sessionName } from "./session-name.ts";
import { openState } from "./sessions.ts";

const emptyName = "a name has at least one character that can be seen; null takes it back";

/** A step of its own, so that it is undone like any other. */
export async function renameSession(
  library: Library,
  { session, name }: RenameAct,
): Promise<Result<NamedAnswer & Durable>> {
  const opened = await openState(library, session);
  if (!opened.ok) return opened;
  const to = name === null ? null : lineFrom(name);
  if (name !== null && to === null) return fail("AP_INPUT_INVALID", { problem: emptyName });
  return await library.within(opened.value.session, async (live) => {
    const state = live.state();
    const deltas = setName({ moment: now(state), actor: "user" }, to);
    if (!deltas.ok) return deltas;
    const cause = { type: "command", step: nextStep(state), reason: "" } as const;
    const done = live.carry({ deltas: deltas.value, actor: "user", cause });
    if (!done.ok) return done;
    const after = live.state();
    return ok({ session: after.session, seq: after.seq, name: await sessionName(library.store, now(after)) });
  });
}
