import { type Flag, takesValue } from "../args/verb-spec.ts";
import {
  globalFlagsWithValue,
  sessionsCommand,
  type VerbCompletion,
  verbCompletions,
} from "./completion-words.ts";

export function zshScript(): string {
  const all = verbCompletions();
  const verbs = all.map(({ verb: { name, about } }) => `    ${quoted(`${name}:${about}`)}`);
  return `#compdef aperture
# zsh completion for aperture: save it as _aperture in a folder of $fpath
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
      ${globalFlagsWithValue.join("|")}) at=$((at + 1)) ;;
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

function verbCase({ verb, flags, operands, takesSession }: VerbCompletion): string {
  const specs = flags.flatMap(flagSpecs);
  const rest = takesSession ? "_aperture_sessions" : operands.length > 0 ? `(${operands.join(" ")})` : "";
  const others = rest === "" && verb.operands.some(({ name }) => name === "FILE") ? "_files" : rest;
  // To _arguments the verb is an operand too, the first one. The other operands are always named, even if any
  // word fits: for a verb with operands that it does not know, _arguments completes no options either.
  return `    ${verb.name}) _arguments '1:verb:' ${[...specs, quoted(`*:word:${others || " "}`)].join(" ")} ;;`;
}

function flagSpecs(flag: Flag): readonly string[] {
  const { name, short, value, about, choices = [] } = flag;
  const help = `[${about.replace(/[[\]:]/g, " ")}]`;
  const takes = takesValue(flag) ? `:${value ?? name}:${valueWords(name, choices)}` : "";
  const names = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  return names.map((each) => quoted(`${each}${help}${takes}`));
}

function valueWords(name: string, choices: readonly string[]): string {
  if (name === "session") return "_aperture_sessions";
  if (name === "data-dir" || name === "config") return "_files";
  return choices.length === 0 ? " " : `(${choices.join(" ")})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
