import { exitCodes } from "../exit-codes.ts";
import type { VerbCall } from "../verb-call.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { powershellScript } from "./powershell.ts";
import { zshScript } from "./zsh.ts";

const scripts: Readonly<Record<string, () => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

export function completion({ operands: [shell = ""], screen }: VerbCall): number {
  screen.out(scripts[shell]?.() ?? "");
  return exitCodes.ok;
}
