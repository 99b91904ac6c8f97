import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { clientNames, isClientName, wiringOf } from "../launch/wiring.ts";
import { shellLines, shellOf, shells } from "../shell-lines.ts";
import { exitCodes } from "../usage.ts";

/** Lines that a shell can read: `eval "$(aperture env claude)"`. */
export function env(call: ReadyCall): number {
  const { operands, flags, screen, world, api } = call;
  const [name = ""] = operands;
  if (!isClientName(name)) {
    const message = `"${printable(name, 40)}" is no client known here: ${clientNames.join(", ")}.`;
    return giveUp(call, { exit: exitCodes.usage, message });
  }
  const shell = shellOf(flags.get("shell") ?? world.env["SHELL"] ?? "sh");
  if (shell === null) {
    const message = `--shell is ${shells.join(", ")}, not "${printable(flags.get("shell") ?? "", 40)}".`;
    return giveUp(call, { exit: exitCodes.usage, message });
  }
  const { variables, remark } = wiringOf(name, api.url);
  if (wantsJson(call)) return printJson(call, JSON.stringify({ v: 1, client: name, variables }));
  for (const line of shellLines(variables, shell)) screen.out(line);
  if (remark !== null && !isQuiet(call)) screen.err(remark);
  return exitCodes.ok;
}
