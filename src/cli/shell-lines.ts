import { basename } from "node:path";

export const shells = ["sh", "fish", "powershell"] as const;
export type Shell = (typeof shells)[number];

/** By its name or the path of the program; bash, zsh and the like read what sh reads. */
export function shellOf(word: string): Shell | null {
  const name = basename(word)
    .toLowerCase()
    .replace(/\.exe$/, "");
  if (["sh", "bash", "zsh", "dash", "ksh", "ash"].includes(name)) return "sh";
  if (name === "fish") return "fish";
  return name === "powershell" || name === "pwsh" ? "powershell" : null;
}

/** Lines that set variables. Values are quoted, so that none of them can be more than a value. */
export function shellLines(variables: Readonly<Record<string, string>>, shell: Shell): readonly string[] {
  return Object.entries(variables).map(([name, value]) => {
    switch (shell) {
      case "sh":
        return `export ${name}='${value.replaceAll("'", "'\\''")}'`;
      case "fish":
        return `set -gx ${name} '${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
      default:
        return `$env:${name} = '${value.replaceAll("'", "''")}'`;
    }
  });
}
