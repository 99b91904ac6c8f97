import { apertureError, cutText, type Fail } from "../base/index.ts";

const quotedCharsMax = 40;

/** One line that says what was wrong and what would be right. */
export function refuse(problem: string): Fail {
  return { ok: false, error: apertureError("AP_COMMAND_INVALID", { problem }) };
}

/** What somebody wrote, fit to stand in a sentence of ours: short, on one line. */
export function cited(text: string): string {
  const line = cutText(text, quotedCharsMax)
    .replace(/[\s\p{C}"]+/gu, " ")
    .trim();
  return `"${line}${text.length > quotedCharsMax ? "…" : ""}"`;
}

/** `a, b or c`. */
export function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
