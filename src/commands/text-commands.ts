import { assert, type Result } from "../base/index.ts";
import { type Command, verbs } from "./command.ts";
import { parseCommand } from "./grammar.ts";
import { LineContext } from "./line-context.ts";

/** A command line in a text. `start` to `end` covers it with its line end. */
export type CommandLine = {
  readonly start: number;
  readonly end: number;
  /** The line without the nonce. */
  readonly text: string;
  readonly command: Result<Command>;
};

/** The text that may be shown now, and the commands that were taken out of it. */
export type FilteredText = { readonly passed: string; readonly commands: readonly CommandLine[] };

/** A longer line is no command and is not held back. */
export const commandLineCharsMax = 4_096;

const starts = verbs.map((verb) => `@${verb}(`);

/** The name of a call that was written as a command line; other calls have the name of their tool. */
export const textCallName = "@";

/** True if a line has the form of a command line. Its surroundings are not checked. */
export function isCommandLine(line: string, nonce: string): boolean {
  return line.startsWith("@") && withoutNonce(line, nonce) !== null;
}

/** The command lines of a whole text. */
export function commandLines(text: string, nonce: string): readonly CommandLine[] {
  const filter = new CommandLineFilter(nonce);
  return [...filter.push(text).commands, ...filter.end().commands];
}

/**
 * Passes an answer on piece by piece and takes out command lines: `@verb(...)`, a space and the nonce, alone
 * on a line that is neither code nor quoted. It holds back only a line that begins like one, until the line
 * is complete. The result does not depend on how the text is cut into pieces.
 */
export class CommandLineFilter {
  readonly #nonce: string;
  readonly #context = new LineContext();
  #lineStart = 0;
  /** All pieces of the open line. */
  #pieces: string[] = [];
  /** The held text of the open line; null once the line is passed on. */
  #held: string | null = "";

  constructor(nonce: string) {
    assert(nonce !== "", "without a nonce every text could command");
    this.#nonce = nonce;
  }

  push(text: string): FilteredText {
    const passed: string[] = [];
    const commands: CommandLine[] = [];
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      passed.push(this.#addToLine(text.slice(from, at)));
      this.#endLine("\n", { passed, commands });
      from = at + 1;
    }
    passed.push(this.#addToLine(text.slice(from)));
    return { passed: passed.join(""), commands };
  }

  /** Ends the text and decides about the held line. */
  end(): FilteredText {
    const [passed, commands]: [string[], CommandLine[]] = [[], []];
    if (this.#pieces.length > 0) this.#endLine("", { passed, commands });
    return { passed: passed.join(""), commands };
  }

  /** Adds a piece to the open line; returns the text that need not be held. */
  #addToLine(piece: string): string {
    if (piece === "") return "";
    this.#pieces.push(piece);
    if (this.#held === null) return piece;
    const held = `${this.#held}${piece}`;
    const mayBeCommand = this.#context.isFree && beginsCommand(held);
    this.#held = mayBeCommand ? held : null;
    return mayBeCommand ? "" : held;
  }

  #endLine(ending: string, output: { readonly passed: string[]; readonly commands: CommandLine[] }): void {
    const line = this.#pieces.join("");
    const [start, end] = [this.#lineStart, this.#lineStart + line.length + ending.length];
    const text = this.#held ? withoutNonce(this.#held, this.#nonce) : null;
    if (text === null) {
      output.passed.push(this.#held ?? "", ending);
      this.#context.passLine(line);
    } else {
      output.commands.push({ start, end, text, command: parseCommand(text) });
    }
    this.#lineStart = end;
    this.#pieces = [];
    this.#held = "";
  }
}

/** True if a line that begins so may become a command. Once it is false, it stays false for longer text. */
function beginsCommand(line: string): boolean {
  if (line.length > commandLineCharsMax) return false;
  return starts.some((start) => line.startsWith(start) || start.startsWith(line));
}

/** The command before the nonce; null if the line does not have the form of a command line. */
function withoutNonce(line: string, nonce: string): string | null {
  const end = `) ${nonce}`;
  const text = line.trimEnd();
  const isWhole = starts.some((start) => text.startsWith(start)) && text.endsWith(end);
  return isWhole ? text.slice(0, -nonce.length - 1) : null;
}
