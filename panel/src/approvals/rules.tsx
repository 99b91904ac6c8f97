import { write } from "../api/client.ts";
import type { RouteAnswers, StepRow } from "../api/contract.ts";
import { put, useLater } from "../api/resource.ts";
import { attempt, undo } from "../context/acts.ts";
import { actorName, stepsPath, stepText } from "../context/steps.ts";
import { say } from "../parts/toasts.tsx";
import { rulesPath } from "./decide.ts";
import { sessionRules } from "./session-rules.ts";

export type RulesProps = { readonly session: string; readonly model: string | null };

type Kept = RouteAnswers["PermissionsAnswer"];
type Rule = Kept["rows"][number];

/** What the user has said for longer than once: each can be taken back here. */
export function Rules({ session, model }: RulesProps) {
  const { data, error } = useLater<Kept>(rulesPath);
  const { data: steps } = useLater<RouteAnswers["StepsPage"]>(stepsPath(session));
  const kept = data?.rows ?? [];
  const own = sessionRules(steps?.rows ?? []);
  if (kept.length + own.length === 0 && error === null) return null;
  return (
    <section className="rules">
      <h2 id="rules">Rules</h2>
      {error === null ? null : <p className="problem">{error.message}</p>}
      <ul aria-labelledby="rules">
        {kept.map((rule) => (
          <li key={`${rule.actor} ${rule.verb} ${rule.zone}`}>
            <span>{ruleText(rule, model)}</span>
            <Forget what={ruleText(rule, model)} onClick={() => void forget(session, rule)} />
          </li>
        ))}
        {own.map((row: StepRow) => (
          <li key={row.step}>
            <span>{stepText(row, model)}</span>
            <Forget what={stepText(row, model)} onClick={() => void undo(session, row.step)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

type ForgetProps = { readonly what: string; readonly onClick: () => void };

function Forget({ what, onClick }: ForgetProps) {
  return (
    <button type="button" className="button small" aria-label={`Forget: ${what}`} onClick={onClick}>
      Forget
    </button>
  );
}

const ruleWords: Readonly<Record<Rule["rule"], string>> = {
  allow: "You allow",
  ask: "You want to be asked about",
  deny: "You deny",
};

/** `You allow every archive of Claude on blocks in middle, in every session, since 2026-11-17`. */
function ruleText({ rule, actor, verb, zone, since }: Rule, model: string | null): string {
  const what = verb === "all" ? "everything" : `every ${verb}`;
  const where = zone === "all" ? "" : ` on blocks in ${zone}`;
  const day = new Date(since).toISOString().slice(0, 10);
  return `${ruleWords[rule]} ${what} of ${actorName(actor, model)}${where}, in every session, since ${day}`;
}

async function forget(session: string, { verb, zone }: Rule): Promise<void> {
  await attempt(session, async () => {
    put(rulesPath, await write<Kept>("PUT", rulesPath, { verb, zone, rule: null }));
    say(`Forgotten: ${verb} is decided by the mode again`);
  });
}
