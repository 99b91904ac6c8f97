import { flagsWithValue, flagWords, globalFlagsWithValue, verbCompletions } from "./completion-words.ts";

export function powershellScript(): string {
  const all = verbCompletions();
  const rows = all.map(({ verb, flags, operands }) => {
    return `    ${quoted(verb.name)} = @(${[...operands, ...flagWords(flags)].map(quoted).join(", ")})`;
  });
  const values = flagsWithValue().flatMap(({ name, choices = [] }) =>
    choices.length === 0 ? [] : [`    ${quoted(`--${name}`)} = @(${choices.map(quoted).join(", ")})`],
  );
  const sessionVerbs = all
    .filter(({ takesSession }) => takesSession)
    .map(({ verb: { name } }) => quoted(name));
  return `# PowerShell completion for aperture: add it to $PROFILE
Register-ArgumentCompleter -Native -CommandName aperture -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $verbs = @{
${rows.join("\n")}
  }
  $values = @{
${values.join("\n")}
  }
  $sessionVerbs = @(${sessionVerbs.join(", ")})
  $given = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($wordToComplete -ne '' -and $given.Count -gt 0) { $given = @($given | Select-Object -SkipLast 1) }
  $before = if ($given.Count -gt 0) { $given[-1] } else { '' }
  $valued = @(${globalFlagsWithValue.map(quoted).join(", ")})
  $verb = $null
  for ($at = 0; $at -lt $given.Count -and -not $verb; $at += 1) {
    if ($valued -contains $given[$at]) { $at += 1 } elseif ($given[$at] -notlike '-*') { $verb = $given[$at] }
  }
  $words = if ($before -eq '--session') { @() }
    elseif ($values.ContainsKey($before)) { $values[$before] }
    elseif ($verb -and $verbs.ContainsKey($verb)) { $verbs[$verb] }
    else { $verbs.Keys | Sort-Object }
  if ($before -eq '--session' -or ($sessionVerbs -contains $verb -and $wordToComplete -notlike '-*')) {
    $words = @($words) + 'last' + @(aperture sessions --quiet --plain 2>$null | ForEach-Object { ($_ -split "\`t")[0] })
  }
  $words | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
