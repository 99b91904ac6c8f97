import { verbs, zones } from "../../commands/index.ts";
import type { PermissionRow, PermissionsAnswer } from "../../session/index.ts";
import { apiPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { exitCodes } from "../usage.ts";

const rules = ["allow", "ask", "deny", "forget"] as const;

/** What holds always, whichever session it is: listed, said, or taken back. */
export async function permissions(call: ReadyCall): Promise<number> {
  const [rule, verb] = call.operands;
  const zone = call.flags.get("zone");
  const problem = problemWith({ rule, verb, zone });
  if (problem !== null) return giveUp(call, { exit: exitCodes.usage, message: problem });
  const wish = { verb, rule: rule === "forget" ? null : rule, ...(zone === undefined ? {} : { zone }) };
  const path = apiPath("/permissions");
  const reply =
    rule === undefined
      ? await call.api.json<PermissionsAnswer>(path)
      : await call.api.put<PermissionsAnswer>(path, wish);
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { rows } = reply.value.value;
  for (const row of rows) call.screen.out(rowText(row));
  if (!isQuiet(call)) call.screen.err(rows.length === 0 ? none : hint);
  return exitCodes.ok;
}

const none =
  "Nothing is always allowed or denied: the mode of a session decides. `aperture permissions allow archive` would.";
const hint = "`aperture permissions forget VERB --zone ZONE` takes one back.";

type Said = Readonly<Record<"rule" | "verb" | "zone", string | undefined>>;

function problemWith({ rule, verb, zone }: Said): string | null {
  if (rule === undefined) return null;
  if (!rules.some((each) => each === rule)) {
    return `"${printable(rule, 40)}" is nothing to say about a verb: use allow, ask, deny or forget.`;
  }
  if (verb === undefined) return `say about which verb: \`aperture permissions ${rule} archive\`.`;
  return (
    noneOf(verb, { what: "verb of a model", known: [...verbs, "all"] }) ??
    noneOf(zone ?? "all", { what: "zone", known: [...zones, "all"] })
  );
}

function noneOf(word: string, { what, known }: { what: string; known: readonly string[] }): string | null {
  return known.includes(word) ? null : `"${printable(word, 40)}" is no ${what}: use ${known.join(", ")}.`;
}

function rowText({ actor, verb, zone, rule, since }: PermissionRow): string {
  const where = zone === "all" ? "wherever it is" : `in ${zone}`;
  return `${rule} ${verb}  ${where}, by the ${actor}, since ${new Date(since).toISOString().slice(0, 10)}`;
}
