import { type Flag, takesValue } from "../args/verb-spec.ts";
import { globalFlags } from "../args/verb-table.ts";
import { sessionsCommand, type VerbCompletion, verbCompletions } from "./completion-words.ts";

export function fishScript(): string {
  const all = verbCompletions();
  const names = all.map(({ verb: { name } }) => name).join(" ");
  return [
    "# fish completion for aperture: save it as aperture.fish in the completions folder of fish",
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

function verbLines({ verb, operands, takesSession }: VerbCompletion): readonly string[] {
  const inside = `-n "__fish_seen_subcommand_from ${verb.name}"`;
  return [
    ...verb.flags.map((flag) => flagLine(flag, inside)),
    ...(operands.length === 0 ? [] : [`complete -c aperture ${inside} -a ${quoted(operands.join(" "))}`]),
    ...(takesSession ? [`complete -c aperture ${inside} -a "(__aperture_sessions)"`] : []),
    ...(verb.name === "run" ? [`complete -c aperture ${inside} -a "(__fish_complete_command)"`] : []),
  ];
}

function flagLine(flag: Flag, inside: string | null): string {
  const { name, short, about, choices = [] } = flag;
  const values = name === "session" ? "(__aperture_sessions)" : choices.join(" ");
  const isFile = name === "data-dir" || name === "config";
  return [
    "complete -c aperture",
    ...(inside === null ? [] : [inside]),
    `-l ${name}`,
    ...(short === undefined ? [] : [`-s ${short}`]),
    ...(takesValue(flag) ? [isFile ? "-r -F" : "-x"] : []),
    ...(values === "" ? [] : [`-a "${values}"`]),
    `-d ${quoted(about)}`,
  ].join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
