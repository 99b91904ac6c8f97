/** In what a program printed, a word is enough. */
const words =
  /\b(?:errors?|failed|failures?|fails?|panic(?:ked)?|exceptions?|traceback|assertion|fatal)\b|\w(?:Error|Exception)\b/i;

/** Source code speaks of errors on every third line; there, only what reads like a report is one. */
const reports =
  /\b(?:error|panic|exception|fatal)\b(?:\[\w+\])?:(?!:)|\bERROR\b|\bFAIL(?:ED|URE)?\b|Traceback|[a-z]Error:|[a-z]Exception:|\b[1-9]\d* (?:failed|failures?|errors?)\b/;

const outcome = /\b(?:exit|exited|status|code|rc)(?: with)?(?: code| status)?[:=]? ?[1-9]\d{0,2}\b/i;

/** Lines that say what went wrong. */
export function isErrorLine(line: string, isSource: boolean): boolean {
  return (isSource ? reports : words).test(line) || outcome.test(line);
}
