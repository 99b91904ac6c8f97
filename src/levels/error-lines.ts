const outcome = "\\b[Ee]xit(?:s|ed)?(?: with)?(?: code| status)?[:=]? ?[1-9]\\d{0,2}\\b";

/** In what a program printed, a word is enough. */
const words = /\b(?:errors?|failed|failures?|fails?|panic(?:ked)?|exceptions?|traceback|assertion|fatal)\b/i;
const names = new RegExp(`[a-z](?:Error|Exception)\\b|${outcome}`);

/** Source code speaks of errors on every third line; there, only what reads like a report is one. */
const reports = new RegExp(
  "\\b(?:error|panic|exception|fatal)\\b(?:\\[\\w+\\]| [A-Z]+\\d+)?:(?!:)|\\bERROR\\b|\\bFAIL(?:ED|URE)?\\b|Traceback|" +
    `[a-z](?:Error|Exception):|\\b[1-9]\\d* (?:failed|failures?|errors?)\\b|${outcome}`,
);

const charsMin = 4;

/** Lines that say what went wrong. */
export function isErrorLine(line: string, isSource: boolean): boolean {
  if (line.length < charsMin) return false;
  return isSource ? reports.test(line) : words.test(line) || names.test(line);
}
