import {
  flagsWithValue,
  flagWords,
  globalFlagsWithValue,
  sessionsCommand,
  verbCompletions,
} from "./completion-words.ts";

export function bashScript(): string {
  const all = verbCompletions();
  const rows = all.map(({ verb, flags, operands, takesSession }) => {
    const words = [...operands, ...flagWords(flags)].join(" ");
    const sessions = takesSession ? "; sessions=1" : "";
    return `    ${verb.name}) words="${words}"${sessions} ;;`;
  });
  const values = flagsWithValue().flatMap(({ name, choices = [] }) =>
    choices.length === 0 ? [] : [`    --${name}) words="${choices.join(" ")}" ;;`],
  );
  return `# bash completion for aperture: save it where bash-completion looks, or source it
_aperture() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" verb="" words="" sessions="" at
  COMPREPLY=()
  case "$before" in
    --session) mapfile -t COMPREPLY < <(compgen -W "last $(${sessionsCommand})" -- "$word"); return ;;
    --data-dir) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    --config) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
${values.join("\n")}
  esac
  if [ -n "$words" ]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"); return; fi
  for ((at = 1; at < COMP_CWORD; at += 1)); do
    case "\${COMP_WORDS[at]}" in
      ${globalFlagsWithValue.join("|")}) at=$((at + 1)) ;;
      -*) ;;
      *) verb="\${COMP_WORDS[at]}"; break ;;
    esac
  done
  case "$verb" in
    "") words="${all.map(({ verb: { name } }) => name).join(" ")}" ;;
${rows.join("\n")}
  esac
  if [ -n "$sessions" ] && [[ "$word" != -* ]]; then words="$words last $(${sessionsCommand})"; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  if [ "$verb" = run ] && [ "\${#COMPREPLY[@]}" -eq 0 ]; then mapfile -t COMPREPLY < <(compgen -c -- "$word"); fi
}
complete -o default -F _aperture aperture`;
}
