import { fail, ok, type Result } from "../base/index.ts";
import { nextStepId, ruleChanges, type State } from "../engine/index.ts";
import { modeOf, now } from "../engine/moment/index.ts";
import type { Durability } from "../log/index.ts";
import { openSessionState, sessionName, singleLine } from "../queries/index.ts";
import { type ImportResult, TranscriptImporter } from "../recorder/index.ts";
import type { GatheredSession } from "../transcripts/index.ts";
import type { DeleteAnswer, ModeAnswer, RenameAnswer } from "./act-answers.ts";
import type { ActDeps, DeleteAct, RenameAct, SetModeAct } from "./acts.ts";

const emptyName = "a name has at least one character that can be seen; null takes it back";

/** Renaming is a step, so that it can be undone. */
export async function renameSession(
  deps: ActDeps,
  { session, name }: RenameAct,
): Promise<Result<RenameAnswer & Durability>> {
  const opened = await openSessionState(deps, session);
  if (!opened.ok) return opened;
  const to = name === null ? null : singleLine(name);
  if (name !== null && to === null) return fail("AP_INPUT_INVALID", { problem: emptyName });
  return await deps.inSession(opened.value.session, async (live) => {
    const state = live.state();
    const deltas = ruleChanges.setName({ moment: now(state), actor: "user" }, to);
    if (!deltas.ok) return deltas;
    const cause = { type: "command", step: nextStepId(state), reason: "" } as const;
    const done = live.append({ deltas: deltas.value, actor: "user", cause });
    if (!done.ok) return done;
    const after = live.state();
    return ok({ session: after.session, seq: after.seq, name: await sessionName(deps.store, now(after)) });
  });
}

/**
 * Erases a whole session, with all data that only it refers to. That does not rewrite a log, it removes one.
 * It cannot be undone, so the caller must give the full id.
 */
export async function deleteSession(
  deps: ActDeps,
  { session, confirm }: DeleteAct,
): Promise<Result<DeleteAnswer>> {
  const opened = await openSessionState(deps, session);
  if (!opened.ok) return opened;
  const id = opened.value.session;
  if (confirm !== id) return fail("AP_INPUT_INVALID", { problem: `confirm must be the session's id, ${id}` });
  if (deps.removeSession === undefined)
    return fail("AP_CONTROL_FAULT", { problem: "nothing is erased here" });
  const erased = await deps.removeSession(id);
  return erased.ok ? ok({ session: id, ...erased.value }) : erased;
}

/** The mode the user set for a session. */
export async function sessionModeAnswer(deps: ActDeps, session: string): Promise<Result<ModeAnswer>> {
  const state = await openSessionState(deps, session);
  return state.ok ? ok(modeAnswerOf(state.value)) : state;
}

/** Setting the mode is a step, so that it can be undone. */
export async function setSessionMode(
  deps: ActDeps,
  act: SetModeAct,
): Promise<Result<ModeAnswer & Durability>> {
  const opened = await openSessionState(deps, act.session);
  if (!opened.ok) return opened;
  return await deps.inSession(opened.value.session, (live) => {
    const state = live.state();
    const deltas = ruleChanges.setMode({ moment: now(state), actor: "user" }, act.mode);
    if (!deltas.ok) return deltas;
    const cause = { type: "command", step: nextStepId(state), reason: "" } as const;
    const done = live.append({ deltas: deltas.value, actor: "user", cause });
    return done.ok ? ok(modeAnswerOf(live.state())) : done;
  });
}

function modeAnswerOf(state: State): ModeAnswer {
  return { session: state.session, seq: state.seq, mode: modeOf(now(state)) };
}

/** Imports a session into the store of a running Aperture, which then reads the session again. */
export async function importSession(deps: ActDeps, bytes: Uint8Array): Promise<Result<ImportResult>> {
  const input = parseImport(bytes);
  if (input === null) return fail("AP_INPUT_INVALID", { problem: "it is no session from a transcript" });
  const { store, windowOf } = deps;
  const imported = await new TranscriptImporter({ store, windowOf, secrets: input.secrets }).add(
    input.gathered,
  );
  if (imported.ok) deps.forgetSession?.(imported.value.session);
  return imported;
}

type ImportInput = { readonly gathered: GatheredSession; readonly secrets: readonly string[] };

/** Only checks the outer shape: our own command line has parsed the transcript. */
function parseImport(bytes: Uint8Array): ImportInput | null {
  try {
    const value = JSON.parse(Buffer.from(bytes).toString("utf8")) as Partial<ImportInput> | null;
    const { gathered, secrets } = value ?? {};
    const isSession = typeof gathered?.recording?.id === "string" && Array.isArray(gathered.recording.turns);
    const hasSecrets = Array.isArray(secrets) && secrets.every((secret) => typeof secret === "string");
    return isSession && hasSecrets ? { gathered, secrets } : null;
  } catch {
    return null;
  }
}
