import { apertureError, cutText, type Fail } from "../base/index.ts";

const quotedCharsMax = 40;

/** A failure with one line that says what was wrong and what would be right. */
export function refuse(problem: string): Fail {
  return { ok: false, error: apertureError("AP_COMMAND_INVALID", { problem }) };
}

/** Quotes a user's or model's input for a message of ours: short, on one line. */
export function quoteInput(text: string): string {
  const line = cutText(text, quotedCharsMax)
    .replace(/[\s\p{C}"]+/gu, " ")
    .trim();
  return `"${line}${text.length > quotedCharsMax ? "…" : ""}"`;
}

/** `a, b or c`. */
export function joinChoices(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
