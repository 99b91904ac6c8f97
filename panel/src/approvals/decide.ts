import { write } from "../api/client.ts";
import type { RouteAnswers } from "../api/contract.ts";
import { refresh } from "../api/resource.ts";
import { attempt, sessionPath } from "../context/acts.ts";
import { say } from "../parts/toasts.tsx";

export const scopes = ["once", "turn", "session", "always"] as const;
export type Scope = (typeof scopes)[number];

/** What was said for always, in whichever session. */
export const rulesPath = "/permissions";

export type Decision = {
  readonly decision: "approve" | "deny";
  readonly scope: Scope;
  /** The model reads it where it was denied. */
  readonly reason: string;
};

/** Null: all that wait. */
export async function decide(
  session: string,
  approval: number | null,
  { decision, scope, reason }: Decision,
): Promise<void> {
  const path = `${sessionPath(session)}/approvals${approval === null ? "" : `/${approval}`}`;
  const body = { decision, scope, ...(decision === "deny" && reason !== "" ? { reason } : {}) };
  await attempt(session, async () => {
    const answer = await write<RouteAnswers["DecideAnswer"]>("POST", path, body);
    for (const row of answer.rows) say(toldOf(row));
    return answer;
  });
  if (scope === "always") refresh(rulesPath);
}

type Decided = RouteAnswers["DecideAnswer"]["rows"][number];

/** A step is announced by what watches them; what came to none is said here. */
function toldOf({ stand, verb, outcome, reason, step }: Decided): string {
  if (stand === "denied") return `You denied ${verb}${reason === "" ? "" : `: “${reason}”`}`;
  if (step !== null) return `You approved ${verb}`;
  return `You approved ${verb}: ${outcome?.split("\n", 1)[0] ?? "nothing came of it"}`;
}
