import type { Call } from "../call.ts";
import { giveUp } from "../call.ts";
import { bashScript } from "../completion/bash.ts";
import { fishScript } from "../completion/fish.ts";
import { powershellScript } from "../completion/powershell.ts";
import { zshScript } from "../completion/zsh.ts";
import { printable } from "../format/printable.ts";
import { exitCodes } from "../usage.ts";

const scripts: Readonly<Record<string, () => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

export function completion(call: Call): number {
  const [shell = ""] = call.operands;
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script === undefined) {
    const message = `There is completion for ${Object.keys(scripts).join(", ")}, not "${printable(shell, 40)}".`;
    return giveUp(call, { exit: exitCodes.usage, message });
  }
  call.screen.out(script());
  return exitCodes.ok;
}
