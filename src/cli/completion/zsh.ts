import type { Flag } from "../verb-table.ts";
import { sessionsCommand, type VerbWords, valuedBefore, verbWords } from "./words.ts";

export function zshScript(): string {
  const all = verbWords();
  const verbs = all.map(({ verb: { name, about } }) => `    ${quoted(`${name}:${about}`)}`);
  return `#compdef aperture
# completion of aperture for zsh: put it as _aperture into a folder of $fpath
_aperture_sessions() {
  [[ $PREFIX == -* ]] && return 1
  local -a sessions
  sessions=(last \${(f)"$(${sessionsCommand})"})
  compadd -a sessions
}
_aperture() {
  local -a verbs
  verbs=(
${verbs.join("\n")}
  )
  local at verb=""
  for ((at = 2; at < CURRENT; at += 1)); do
    case "\${words[at]}" in
      ${valuedBefore.join("|")}) at=$((at + 1)) ;;
      -*) ;;
      *) verb=\${words[at]}; break ;;
    esac
  done
  case "$verb" in
    "") _describe -t verbs verb verbs ;;
${all.map(verbCase).join("\n")}
  esac
}
_aperture "$@"`;
}

function verbCase({ verb, flags, operands, takesSession }: VerbWords): string {
  const specs = flags.flatMap(flagSpecs);
  const rest = takesSession ? "_aperture_sessions" : operands.length > 0 ? `(${operands.join(" ")})` : "";
  const others = rest === "" && verb.operands.some(({ name }) => name === "FILE") ? "_files" : rest;
  // The name of the verb is an operand to _arguments too; the first place is its own. What can be anything is
  // still named: a verb whose operands _arguments does not know gets no options completed either.
  return `    ${verb.name}) _arguments '1:verb:' ${[...specs, quoted(`*:word:${others || " "}`)].join(" ")} ;;`;
}

function flagSpecs({ name, short, value, about, choices = [] }: Flag): readonly string[] {
  const says = `[${about.replace(/[[\]:]/g, " ")}]`;
  const takes = value === undefined ? "" : `:${value}:${valueWords(name, choices)}`;
  const names = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  return names.map((each) => quoted(`${each}${says}${takes}`));
}

function valueWords(name: string, choices: readonly string[]): string {
  if (name === "session") return "_aperture_sessions";
  if (name === "data-dir" || name === "config") return "_files";
  return choices.length === 0 ? " " : `(${choices.join(" ")})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
