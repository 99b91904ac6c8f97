const outcome = "\\b(?:exit|exited|status|code|rc)(?: with)?(?: code| status)?[:=]? ?[1-9]\\d{0,2}\\b";

/** In what a program printed, a word is enough. */
const words = new RegExp(
  "\\b(?:errors?|failed|failures?|fails?|panic(?:ked)?|exceptions?|traceback|assertion|fatal)\\b|" +
    `[a-z](?:Error|Exception)\\b|${outcome}`,
  "i",
);

/** Source code speaks of errors on every third line; there, only what reads like a report is one. */
const reports = new RegExp(
  "\\b(?:error|panic|exception|fatal)\\b(?:\\[\\w+\\])?:(?!:)|\\bERROR\\b|\\bFAIL(?:ED|URE)?\\b|Traceback|" +
    `[a-z](?:Error|Exception):|\\b[1-9]\\d* (?:failed|failures?|errors?)\\b|${outcome}`,
);

const charsMin = 4;

/** Lines that say what went wrong. */
export function isErrorLine(line: string, isSource: boolean): boolean {
  return line.length >= charsMin && (isSource ? reports : words).test(line);
}
