import { cutText } from "../base/index.ts";

/** A command that the model wrote as a line of text, and its result. */
export type CommandReply = { readonly command: string; readonly text: string };

const commandCharsMax = 80;

/** The results of command lines as one text, each behind a line that names its command. */
export function answersText(nonce: string, answers: readonly CommandReply[]): string {
  return answers
    .map(({ command, text }) => `${writeAnswerHead({ nonce, command: shortCommand(command) })}\n${text}`)
    .join("\n");
}

/** The line above the result of a command. */
export type AnswerHead = { readonly nonce: string; readonly command: string };

/** `[k7f3 answer to @expand(27)]` */
export function writeAnswerHead({ nonce, command }: AnswerHead): string {
  return `[${nonce} answer to ${command}]`;
}

export function readAnswerHead(line: string): AnswerHead | null {
  const [, nonce = "", command = ""] = /^\[(\w+) answer to (.*)\]$/.exec(line) ?? [];
  return nonce === "" ? null : { nonce, command };
}

function shortCommand(command: string): string {
  const cut = cutText(command, commandCharsMax);
  return cut.length < command.length ? `${cut}...` : cut;
}
