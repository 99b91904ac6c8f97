import { useEffect, useRef } from "react";
import type { RouteAnswers, StepRow } from "../api/contract.ts";
import { modelName, tokensText } from "../base/words.ts";
import { say } from "../parts/toasts.tsx";
import { sessionPath, undo } from "./acts.ts";
import { type Said, unsaidIn } from "./unsaid.ts";

/** The steps of a session, for everybody who looks at them: they are read once. */
export function stepsPath(session: string): string {
  return `${sessionPath(session)}/steps?limit=1000`;
}

/** `Claude archived 3 blocks and pinned #31 (−6.2k)`, `You pinned #31`, `Aperture trimmed #9 (not used)`. */
export function stepText({ actor, said, step, frees, reason }: StepRow, model: string | null): string {
  const why = actor === "policy" && reason !== "" ? reason : "";
  const tokens = frees === 0 ? "" : `${frees > 0 ? "−" : "+"}${tokensText(Math.abs(frees))}`;
  const notes = [why, tokens].filter((note) => note !== "").join(", ");
  return `${actorName(actor, model)} ${said ?? `did step ${step}`}${notes === "" ? "" : ` (${notes})`}`;
}

export function actorName(actor: StepRow["actor"], model: string | null): string {
  const names = {
    user: "You",
    model: modelName(model),
    policy: "Aperture",
    client: "The client",
    sidecar: "Aperture",
  };
  return names[actor];
}

/** A session as it was when somebody began to look: what came later is new to them. */
export type Looked = {
  readonly session: string;
  readonly since: number | null;
  readonly model: string | null;
};

/** Whoever did it, in this page or elsewhere: what is new is said, and again only where it has grown. */
export function useStepToasts(
  { session, since, model }: Looked,
  page: RouteAnswers["StepsPage"] | null,
): void {
  const heard = useRef<Said>(new Map());
  useEffect(() => {
    if (page === null || since === null) return;
    const { fresh, said } = unsaidIn(heard.current, page.rows, since);
    heard.current = said;
    for (const row of fresh) {
      const offer = { title: "Undo", run: () => void undo(session, row.step) };
      say(stepText(row, model), offer, `step ${row.step} of ${session}`);
    }
  }, [session, since, page, model]);
}

/**
 * Takes back the step that is shown, and no other that has come meanwhile. Until the steps were read again a
 * second press means the same one.
 */
export function useUndoShown(session: string, shown: StepRow | null): () => void {
  const asked = useRef<StepRow | null>(null);
  return () => {
    if (shown === null) say("There is nothing to take back");
    else if (asked.current !== shown) void undo(session, shown.step);
    asked.current = shown;
  };
}
