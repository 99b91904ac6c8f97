import { verbs } from "../../commands/index.ts";
import type { PermissionRow, PermissionsAnswer } from "../../execute/index.ts";
import { apiPath } from "../api/api-path.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

const commandVerbs: readonly string[] = [...verbs, "all"];

/** Lists, sets and removes the rules that hold in every session. */
export async function permissions(call: ReadyCall): Promise<number> {
  const [rule, verb] = call.operands;
  const zone = call.flags.get("zone");
  const problem = rule === undefined ? null : verbProblem(rule, verb);
  if (problem !== null) return reportProblem(call, { exit: exitCodes.usage, message: problem });
  const change = { verb, rule: rule === "forget" ? null : rule, ...(zone === undefined ? {} : { zone }) };
  const path = apiPath("/permissions");
  const reply =
    rule === undefined
      ? await call.api.json<PermissionsAnswer>(path)
      : await call.api.put<PermissionsAnswer>(path, change);
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { rows } = reply.value.value;
  for (const row of rows) call.screen.out(rowText(row));
  const remaining = rule === "forget" ? rows.filter((row) => row.verb === verb) : [];
  if (remaining.length > 0) {
    const zones = remaining.map((row) => row.zone).join(", ");
    call.screen.err(`A rule for ${verb} remains in ${zones}: name the zone with --zone.`);
  }
  if (!isQuiet(call)) call.screen.err(rows.length === 0 ? noRulesText : removeHint);
  return exitCodes.ok;
}

const noRulesText =
  "No rules: the mode of a session decides. `aperture permissions allow archive` would add one.";
const removeHint = "`aperture permissions forget VERB --zone ZONE` removes a rule.";

function verbProblem(rule: string, verb: string | undefined): string | null {
  if (verb === undefined) return `Name a verb: \`aperture permissions ${rule} archive\`.`;
  if (commandVerbs.includes(verb)) return null;
  return `"${printable(verb, 40)}" is not a verb of a model. Use one of ${commandVerbs.join(", ")}.`;
}

function rowText({ actor, verb, zone, rule, since }: PermissionRow): string {
  const where = zone === "all" ? "in all zones" : `in ${zone}`;
  return `${rule} ${verb}  ${where}, by the ${actor}, since ${new Date(since).toISOString().slice(0, 10)}`;
}
