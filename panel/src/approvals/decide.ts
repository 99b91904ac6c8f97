import { write } from "../api/client.ts";
import type { RouteAnswers } from "../api/contract.ts";
import { refresh } from "../api/resource.ts";
import { showToast } from "../components/toasts.tsx";
import { attempt, sessionPath } from "../context/actions.ts";

export const scopes = ["once", "turn", "session", "always"] as const;
export type Scope = (typeof scopes)[number];

/** The path of the rules that apply in every session. */
export const rulesPath = "/permissions";

export type Decision = {
  readonly decision: "approve" | "deny";
  readonly scope: Scope;
  /** Sent to the model with a denial. */
  readonly reason: string;
};

/** Decides an approval; null decides all that wait. */
export async function decide(
  session: string,
  approval: number | null,
  { decision, scope, reason }: Decision,
): Promise<void> {
  const path = `${sessionPath(session)}/approvals${approval === null ? "" : `/${approval}`}`;
  const body = { decision, scope, ...(decision === "deny" && reason !== "" ? { reason } : {}) };
  await attempt(session, async () => {
    const answer = await write<RouteAnswers["DecideAnswer"]>("POST", path, body);
    for (const row of answer.rows) showToast(decisionText(row));
    return answer;
  });
  if (scope === "always") refresh(rulesPath);
}

type Decided = RouteAnswers["DecideAnswer"]["rows"][number];

/** `useStepToasts` announces the step of an approved command; without a step the result is shown here. */
function decisionText({ stand, verb, outcome, reason, step }: Decided): string {
  if (stand === "denied") return `You denied ${verb}${reason === "" ? "" : `: “${reason}”`}`;
  if (step !== null) return `You approved ${verb}`;
  return `You approved ${verb}: ${outcome?.split("\n", 1)[0] ?? "it changed nothing"}`;
}
