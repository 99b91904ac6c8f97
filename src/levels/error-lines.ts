const words =
  /\b(?:errors?|failed|failures?|fail|fails|panic(?:ked)?|exceptions?|traceback|assertion|fatal)\b/i;
const outcomes = /\bexit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|\b\w+(?:Error|Exception)\b/;

/** Lines that may say what went wrong. A word is enough: what is lost here is missed most. */
export function isErrorLine(line: string): boolean {
  return words.test(line) || outcomes.test(line);
}
