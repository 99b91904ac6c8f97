import { useEffect, useRef } from "react";
import type { RouteAnswers, StepRow } from "../api/contract.ts";
import { modelName, tokensText } from "../base/format.ts";
import { showToast } from "../components/toasts.tsx";
import { sessionPath, undo } from "./actions.ts";
import { type AnnouncedSteps, findNewSteps } from "./new-steps.ts";

/** The path of all steps of a session. Components share it, so that it is read once. */
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

/** A session on the screen. Steps after `since`, the seq at which the page was opened, are announced. */
export type SessionWatch = {
  readonly session: string;
  readonly since: number | null;
  readonly model: string | null;
};

/** Shows a toast for each new or grown step, by any actor. */
export function useStepToasts(
  { session, since, model }: SessionWatch,
  page: RouteAnswers["StepsPage"] | null,
): void {
  const announcedSteps = useRef<AnnouncedSteps>(new Map());
  useEffect(() => {
    if (page === null || since === null) return;
    const { fresh, announced } = findNewSteps(announcedSteps.current, page.rows, since);
    announcedSteps.current = announced;
    for (const row of fresh) {
      const button = { title: "Undo", run: () => void undo(session, row.step) };
      showToast(stepText(row, model), { button, topic: `step ${row.step} of ${session}` });
    }
  }, [session, since, page, model]);
}

/**
 * Undoes the step that is shown, not a newer one. A second press before the steps are read again does
 * nothing.
 */
export function useUndoLastStep(session: string, shown: StepRow | null): () => void {
  const undone = useRef<StepRow | null>(null);
  return () => {
    if (shown === null) showToast("There is nothing to undo");
    else if (undone.current !== shown) void undo(session, shown.step);
    undone.current = shown;
  };
}
