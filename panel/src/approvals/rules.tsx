import { write } from "../api/client.ts";
import type { RouteAnswers, StepRow } from "../api/contract.ts";
import { setResource, useDeferredResource } from "../api/resource.ts";
import { showToast } from "../components/toasts.tsx";
import { attempt, undo } from "../context/actions.ts";
import { actorName, stepsPath, stepText } from "../context/steps.ts";
import { rulesPath } from "./decide.ts";
import { sessionRules } from "./session-rules.ts";

export type RulesProps = { readonly session: string; readonly model: string | null };

type Permissions = RouteAnswers["PermissionsAnswer"];
type Rule = Permissions["rows"][number];

/** The rules the user has set for longer than one command. Each can be removed. */
export function Rules({ session, model }: RulesProps) {
  const { data, error } = useDeferredResource<Permissions>(rulesPath);
  const { data: steps } = useDeferredResource<RouteAnswers["StepsPage"]>(stepsPath(session));
  const permissions = data?.rows ?? [];
  const forSession = sessionRules(steps?.rows ?? []);
  if (permissions.length + forSession.length === 0 && error === null) return null;
  return (
    <section className="rules">
      <h2 id="rules">Rules</h2>
      {error === null ? null : <p className="problem">{error.message}</p>}
      <ul aria-labelledby="rules">
        {permissions.map((rule) => (
          <li key={`${rule.actor} ${rule.verb} ${rule.zone}`}>
            <span>{ruleText(rule, model)}</span>
            <RemoveRule rule={ruleText(rule, model)} onClick={() => void removeRule(session, rule)} />
          </li>
        ))}
        {forSession.map((row: StepRow) => (
          <li key={row.step}>
            <span>{stepText(row, model)}</span>
            <RemoveRule rule={stepText(row, model)} onClick={() => void undo(session, row.step)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

type RemoveRuleProps = { readonly rule: string; readonly onClick: () => void };

function RemoveRule({ rule, onClick }: RemoveRuleProps) {
  return (
    <button type="button" className="button small" aria-label={`Remove the rule: ${rule}`} onClick={onClick}>
      Remove
    </button>
  );
}

const ruleVerbs: Readonly<Record<Rule["rule"], string>> = {
  allow: "You allow",
  ask: "You want to be asked about",
  deny: "You deny",
};

/** `You allow every archive by Claude on blocks in middle, in every session, since 2026-11-17`. */
function ruleText({ rule, actor, verb, zone, since }: Rule, model: string | null): string {
  const commands = verb === "all" ? "every command" : `every ${verb}`;
  const where = zone === "all" ? "" : ` on blocks in ${zone}`;
  const day = new Date(since).toISOString().slice(0, 10);
  return `${ruleVerbs[rule]} ${commands} by ${actorName(actor, model)}${where}, in every session, since ${day}`;
}

async function removeRule(session: string, { verb, zone }: Rule): Promise<void> {
  await attempt(session, async () => {
    setResource(rulesPath, await write<Permissions>("PUT", rulesPath, { verb, zone, rule: null }));
    showToast(`Rule removed: the mode decides about ${verb} again`);
  });
}
