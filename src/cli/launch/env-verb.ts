import { basename } from "node:path";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";
import { type ClientName, clientVariables } from "./client-addresses.ts";

/** Prints commands for a shell: `eval "$(aperture env claude)"`. */
export function env(call: ReadyCall): number {
  const { operands, flags, screen, system, api } = call;
  const client = operands[0] as ClientName; // the parser accepts no other word
  const shell = flags.get("shell") ?? system.env["SHELL"] ?? "sh";
  const syntax = syntaxOf(shell);
  if (syntax === null) {
    const message = `The shell "${printable(shell, 40)}" is not known. Use --shell sh, fish or powershell.`;
    return reportProblem(call, { exit: exitCodes.usage, message });
  }
  const { variables, remark } = clientVariables(client, api.url);
  if (wantsJson(call)) return printJson(call, JSON.stringify({ v: 1, client, variables }));
  for (const line of shellLines(variables, syntax)) screen.out(line);
  if (remark !== null && !isQuiet(call)) screen.err(remark);
  return exitCodes.ok;
}

type ShellSyntax = "sh" | "fish" | "powershell";

/** Takes a name or a path. bash, zsh and similar shells use the syntax of sh. */
function syntaxOf(word: string): ShellSyntax | null {
  const name = basename(word)
    .toLowerCase()
    .replace(/\.exe$/, "");
  if (["sh", "bash", "zsh", "dash", "ksh", "ash"].includes(name)) return "sh";
  if (name === "fish") return "fish";
  return name === "powershell" || name === "pwsh" ? "powershell" : null;
}

/** Commands that set variables. The values are quoted, so that a shell runs nothing in them. */
function shellLines(variables: Readonly<Record<string, string>>, syntax: ShellSyntax): readonly string[] {
  return Object.entries(variables).map(([name, value]) => {
    switch (syntax) {
      case "sh":
        return `export ${name}='${value.replaceAll("'", "'\\''")}'`;
      case "fish":
        return `set -gx ${name} '${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
      default:
        return `$env:${name} = '${value.replaceAll("'", "''")}'`;
    }
  });
}
