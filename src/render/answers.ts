import { cutText } from "../base/index.ts";

/** A command line, and what it came to. */
export type AnsweredLine = { readonly asked: string; readonly text: string };

const askedCharsMax = 80;

/** What command lines came to, as one text: each answer behind a line of ours that names what it answers. */
export function answersText(nonce: string, lines: readonly AnsweredLine[]): string {
  return lines.map(({ asked, text }) => `[${nonce} answer to ${named(asked)}]\n${text}`).join("\n");
}

function named(asked: string): string {
  const cut = cutText(asked, askedCharsMax);
  return cut.length < asked.length ? `${cut}...` : cut;
}
