import type { Flag } from "../verb-table.ts";
import { globalFlags } from "../verb-table.ts";
import { sessionsCommand, type VerbWords, verbWords } from "./words.ts";

export function fishScript(): string {
  const all = verbWords();
  const names = all.map(({ verb: { name } }) => name).join(" ");
  return [
    "# completion of aperture for fish: put it as aperture.fish into its folder of completions",
    "function __aperture_sessions",
    "  string match -q -- '-*' (commandline -ct); and return",
    "  echo last",
    `  ${sessionsCommand}`,
    "end",
    "complete -c aperture -f",
    ...all.map(
      ({ verb: { name, about } }) =>
        `complete -c aperture -n "not __fish_seen_subcommand_from ${names}" -a ${name} -d ${quoted(about)}`,
    ),
    ...globalFlags.map((flag) => flagLine(flag, null)),
    ...all.flatMap(verbLines),
  ].join("\n");
}

function verbLines({ verb, operands, takesSession }: VerbWords): readonly string[] {
  const inside = `-n "__fish_seen_subcommand_from ${verb.name}"`;
  return [
    ...verb.flags.map((flag) => flagLine(flag, inside)),
    ...(operands.length === 0 ? [] : [`complete -c aperture ${inside} -a ${quoted(operands.join(" "))}`]),
    ...(takesSession ? [`complete -c aperture ${inside} -a "(__aperture_sessions)"`] : []),
    ...(verb.name === "run" ? [`complete -c aperture ${inside} -a "(__fish_complete_command)"`] : []),
  ];
}

function flagLine({ name, short, value, about, choices = [] }: Flag, inside: string | null): string {
  const values = name === "session" ? "(__aperture_sessions)" : choices.join(" ");
  const isFile = name === "data-dir" || name === "config";
  return [
    "complete -c aperture",
    ...(inside === null ? [] : [inside]),
    `-l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(value === undefined ? [] : [isFile ? "-r -F" : "-x"]),
    ...(value === undefined || values === "" ? [] : [`-a "${values}"`]),
    `-d ${quoted(about)}`,
  ].join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
