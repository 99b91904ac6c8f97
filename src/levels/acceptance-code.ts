/** Signs that prose does not have; a dash or a star with a blank behind it opens a point of a list. */
const code =
  /[{}]\s*$|^\s*(?:\/\/|\/\*|\*\/|#include|import \S+;|const \w+ ?[=:]|let \w+ ?=|func \w*\(?|def \w+\(|if ?\(|if err)|=>|:=|[!=+-]=|&&|\|\||^\s*\d+[→\t]|^[+-][^\s-]|^\S+:\d+[:-]|^\S+\(\d+,\d+\):|^\s*[\w.]+ = \S|^\s*[\w.]+\([^)]+\)[;,]?$/;

/** Code that stands between words, in signs of its own, does not make them code. */
export function isCode(text: string): boolean {
  return code.test(text.includes("`") ? text.replace(/`[^`]*`/g, "x") : text);
}

const threeWords = /\p{L}{2,},? \p{L}+,? \p{L}+/u;
const proseShareMin = 0.8;

/** Words in a row, and hardly a sign but letters and blanks. */
export function isProse(text: string): boolean {
  if (!threeWords.test(text)) return false;
  let plain = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at) | 0x20;
    // A blank, a small or capital letter, or a sign beyond ASCII.
    if (code === 0x20 || (code >= 0x61 && code <= 0x7a) || code > 0x7f) plain += 1;
  }
  return plain >= text.length * proseShareMin;
}
