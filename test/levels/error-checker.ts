// What a reader would call a line that says what went wrong. It shares nothing with the product: it was
// written from the spellings of tools (error-spellings.ts), and has to know every one of them.

/** Anywhere, source code included: nobody writes these but to report. */
const everywhere: readonly RegExp[] = [
  /^(?:\S+\s)?(?:error|fatal|panic|exception)\b[^\w]{0,3}: /,
  /\bERROR\b|--- FAIL|\bFAIL\b|^Traceback/,
  /[Ee]xit(?:ed with)? code:? [1-9]/,
];

/** In what a command printed. */
const printed: readonly RegExp[] = [
  /\berrors?\b|\bfail(?:s|ed|ure|ures|ing)?\b|\bpanic(?:ked)?\b|\bexception\b|\btraceback\b|\bassertion\b|\bfatal\b/i,
  /[A-Za-z](?:Error|Exception)\b|\bERR\b|\bCRITICAL\b|\bSEVERE\b|\bSQLSTATE\b|\bORA-\d+|\bSIGSEGV\b|BackOff|OOMKilled/,
  /command not found|not found\b|[Nn]o such |[Pp]ermission denied|\bdenied\b|\brefused\b|\brejected\b|not permitted/,
  /\b[Cc]annot |\b[Cc]ould not |\b[Uu]nable to |timed out|TimeoutException|does not exist|[Nn]ot a directory|is locked/,
  /no space left|[Oo]ut of memory|core dumped|\bKilled\b|\b[Aa]borted\b|ABORTED|[Ss]egmentation|[Dd]eadlock|[Ss]tack overflow/,
  /\b[Uu]ndefined\b|\bUncaught\b|\b[Uu]nhandled|terminated? called|[Uu]nexpected |unterminated |unrecognized |unknown predicate/,
  /double free|already in use|violates unique|Merge conflict|unreachable executed|not assignable|declared and not used/,
  /^\s*(?:✕|×|✖|●|E {3})|^not ok |→ expected |^\s+(?:Expected|Received): |KeyboardInterrupt|SystemExit|StopIteration/,
  /HTTP\/[\d.]+"? [45]\d\d|\bstatus=5\d\d|\b(?:GET|POST) \S+ [45]\d\d\b|\b403 Forbidden|Unauthorized/,
  /\b[Ii]nvalid (?:option|argument)|missing required|mismatch:|^❌|reset by peer|signal 9|returned 500|code 503|^E: /,
  /^Fehler|^erreur|^Ошибка|^错误|^エラー/,
  /^E\d{4} |exit status [1-9]|^\s*\w+_test\.go:\d+: |no required module|Missing script|ELIFECYCLE/,
];

/** Said of errors that there are none, and warnings. */
const fine =
  /\b(?:0|no|zero) (?:errors?|failed|failures?|failing)\b(?!.*\b[1-9]\d* (?:errors?|failed))|^(?:npm |\S+: )?warn(?:ing)?\b(?!.*(?:error|failed))/i;

export function saysError(line: string): boolean {
  return everywhere.some((pattern) => pattern.test(line));
}

export function saysErrorPrinted(line: string): boolean {
  return !fine.test(line) && printed.some((pattern) => pattern.test(line));
}
