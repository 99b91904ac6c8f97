const exitStatus = "\\b[Ee]xit(?:s|ed)?(?: with)?(?: code| status)?[:=]? ?[1-9]\\d{0,2}\\b";

/** In the output of a program, one of these words is enough. */
const errorWords = new RegExp(
  "\\b(?:errors?|failed|failures?|fails?|failing|panic(?:ked)?|exceptions?|traceback|assertion|fatal|abort(?:ed|ing)|" +
    "killed|denied|refused|rejected|forbidden|unauthorized|unhandled|uncaught|unreachable|unresolved|undefined|" +
    "unterminated|unrecognized|unexpected|undeclared|invalid|illegal|missing|mismatch(?:ed)?|" +
    "deadlock|segfault|corrupt(?:ed|ion)?|crash(?:ed|es)?|conflicts?|timeout|" +
    "not found|no such|cannot|can't|could not|couldn't|unable to|timed out|do(?:es)? not exist|not permitted|" +
    "not allowed|not a \\w+|not satisfied|reset by peer|broken pipe|signal \\d+|out of memory|" +
    "no space left|core dumped|segmentation \\w+|stack overflow|not used|fehler|erreur|errore|erro)\\b",
  "i",
);
/** The same in scripts where `\b` finds no word boundary. */
const nonLatinWords = /ошибка|错误|失败|錯誤|失敗|エラー|오류|실패/i;
/** Names of errors and signals, and words that count only in capitals. */
const errorNames = new RegExp(
  "[A-Za-z](?:Error|Exception)\\b|\\b(?:KeyboardInterrupt|SystemExit|StopIteration|OOMKilled|Evicted|\\w+BackOff)\\b|" +
    "\\bERR\\b|\\b(?:CRITICAL|SEVERE|EMERG)\\b|\\bSIG(?:SEGV|ABRT|KILL|TERM|BUS|ILL|FPE)\\b|\\bORA-\\d{5}\\b|\\bSQLSTATE\\b|" +
    `\\bE(?:NOENT|ACCES|PERM|EXIST|ADDRINUSE|CONN[A-Z]+|TIMEDOUT|PIPE|MFILE|NOSPC|RESOLVE|LIFECYCLE)\\b|${exitStatus}`,
);
/** Symbols of test runners, locations of compilers, and status codes of servers. */
const errorShapes = new RegExp(
  "^\\s*(?:[✕✖✗✘×●]|\u274c\ufe0f?) |^E {3,}\\S|^E: |^\\s*(?:→ )?[Ee]xpected\\b|" +
    "^\\s*(?:[Rr]eceived|[Aa]ctual|left|right): |^not ok \\d|^ ! \\[|\\b(?:returned|code|status) [45]\\d\\d\\b|" +
    "^[EF]\\d{4} \\d\\d:\\d\\d|^\\s*\\S+_test\\.go:\\d+: |^\\S+\\.\\w{1,5}:\\d+:\\d+: (?!warn|note|info|hint|remark)|" +
    '\\bHTTP\\/[\\d.]+"? [45]\\d\\d\\b|\\bstatus(?:_code|Code)?["\']?[=:] ?[45]\\d\\d\\b|' +
    "\\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) \\/\\S* [45]\\d\\d\\b|: unknown \\w+ [`'\"]",
);
/** Reports of zero errors, and warnings that mention an error word. */
const zeroErrors =
  /\b(?:0|no|zero|without(?: any)?) (?:errors?|failed|failures?|failing|conflicts?|missing|invalid)\b|\b(?:errors?|failed|failures?|missing|invalid)[:=] ?0\b/gi;
const warningPattern = /^\s*(?:\S+: ?)?(?:npm )?warn(?:ing)?\b(?!.*\b(?:error|failed)\b)/i;

/** Source code mentions errors on every third line, so there only lines that read like a report count. */
const reportPattern = new RegExp(
  "\\b(?:error|panic|exception|fatal)\\b(?:\\[\\w+\\]| [A-Z]+\\d+)?:(?!:)|\\bERROR\\b|\\bFAIL(?:ED|URE)?\\b|Traceback|" +
    `[a-z](?:Error|Exception):|\\b[1-9]\\d* (?:failed|failures?|errors?)\\b|${exitStatus}`,
);

const charsMin = 4;

/** Whether a line reports an error. `isAuthored`: the text is code or the like, not output of a program. */
export function isErrorLine(line: string, isAuthored: boolean): boolean {
  if (line.length < charsMin) return false;
  if (isAuthored) return reportPattern.test(line);
  if (errorNames.test(line) || errorShapes.test(line) || nonLatinWords.test(line)) return true;
  return errorWords.test(line) && !warningPattern.test(line) && errorWords.test(line.replace(zeroErrors, ""));
}
