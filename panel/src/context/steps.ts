import { useEffect, useRef } from "react";
import type { Returned, StepRow } from "../api/contract.ts";
import { modelName, tokensText } from "../base/words.ts";
import { say } from "../parts/toasts.tsx";
import { sessionPath, undo } from "./acts.ts";

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

/** Whoever did it, in this page or elsewhere: what is new is said, once. */
export function useStepToasts({ session, since, model }: Looked, page: Returned["StepsPage"] | null): void {
  const said = useRef(0);
  useEffect(() => {
    if (page === null || since === null) return;
    for (const row of page.rows) {
      if (row.step <= said.current || row.seq <= since) continue;
      said.current = row.step;
      if (row.done) say(stepText(row, model), { title: "Undo", run: () => void undo(session, row.step) });
    }
  }, [session, since, page, model]);
}
