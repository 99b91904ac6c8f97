import { fail, ok, type Result } from "../../base/index.ts";
import type { DeleteAct, Library } from "./questions.ts";
import type { DeletedAnswer } from "./rows.ts";
import { openState } from "./sessions.ts";

/**
 * Takes a whole session away. A log is never rewritten, and this rewrites none: it ends one, with everything
 * that only it holds. Nothing brings it back, so whoever asks has to name it in full.
 */
export async function deleteSession(
  library: Library,
  { session, confirm }: DeleteAct,
): Promise<Result<DeletedAnswer>> {
  const opened = await openState(library, session);
  if (!opened.ok) return opened;
  const id = opened.value.session;
  if (confirm !== id) return fail("AP_INPUT_INVALID", { problem: `confirm must be the session's id, ${id}` });
  if (library.remove === undefined) return fail("AP_CONTROL_FAULT", { problem: "nothing is erased here" });
  const erased = await library.remove(id);
  return erased.ok ? ok({ session: id, ...erased.value }) : erased;
}
