import { assert, type Result } from "../base/index.ts";
import { type Command, verbs } from "./command.ts";
import { parseCommand } from "./grammar.ts";
import { LineContext } from "./line-context.ts";

/** A command line as it stood in a text: from its first sign up to and including the end of the line. */
export type CommandLine = {
  readonly start: number;
  readonly end: number;
  /** The line without the mark. */
  readonly text: string;
  readonly command: Result<Command>;
};

/** What may pass on to a reader now, and the commands that were taken out. */
export type Sifted = { readonly passed: string; readonly commands: readonly CommandLine[] };

/** A line that goes on longer than this is no command; a reader waits no longer for it. */
export const commandLineCharsMax = 4_096;

const starts = verbs.map((verb) => `@${verb}(`);

/** What a command line is called where calls are called by their tools. */
export const textCallName = "@";

/** Whether a line is written as a command line is; where it stands is not looked at. */
export function isCommandLine(line: string, nonce: string): boolean {
  return line.startsWith("@") && withoutMark(line, nonce) !== null;
}

/** The command lines of a whole text. */
export function commandLines(text: string, nonce: string): readonly CommandLine[] {
  const hold = new TextHold(nonce);
  return [...hold.push(text).commands, ...hold.end().commands];
}

/**
 * Lets an answer through piece by piece and takes out command lines: `@verb(...)`, a space and the nonce,
 * alone on a line that is neither code nor quoted. Only a line that begins like one waits until it is clear.
 * However the text is cut into pieces, the outcome is the same.
 */
export class TextHold {
  readonly #nonce: string;
  readonly #context = new LineContext();
  #lineStart = 0;
  /** All of the line that has not ended yet, and as much of it as waits; null once it has passed on. */
  #pieces: string[] = [];
  #waiting: string | null = "";

  constructor(nonce: string) {
    assert(nonce !== "", "without a nonce every text could command");
    this.#nonce = nonce;
  }

  push(text: string): Sifted {
    const passed: string[] = [];
    const commands: CommandLine[] = [];
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      passed.push(this.#take(text.slice(from, at)));
      this.#endLine("\n", { passed, commands });
      from = at + 1;
    }
    passed.push(this.#take(text.slice(from)));
    return { passed: passed.join(""), commands };
  }

  /** The text is over: what waits is decided. */
  end(): Sifted {
    const [passed, commands]: [string[], CommandLine[]] = [[], []];
    if (this.#pieces.length > 0) this.#endLine("", { passed, commands });
    return { passed: passed.join(""), commands };
  }

  /** More of the line; gives back what of it need not wait. */
  #take(piece: string): string {
    if (piece === "") return "";
    this.#pieces.push(piece);
    if (this.#waiting === null) return piece;
    const waiting = `${this.#waiting}${piece}`;
    const mayCommand = this.#context.isFree && beginsCommand(waiting);
    this.#waiting = mayCommand ? waiting : null;
    return mayCommand ? "" : waiting;
  }

  #endLine(ending: string, found: { readonly passed: string[]; readonly commands: CommandLine[] }): void {
    const line = this.#pieces.join("");
    const [start, end] = [this.#lineStart, this.#lineStart + line.length + ending.length];
    const text = this.#waiting ? withoutMark(this.#waiting, this.#nonce) : null;
    if (text === null) {
      found.passed.push(this.#waiting ?? "", ending);
      this.#context.pass(line);
    } else {
      found.commands.push({ start, end, text, command: parseCommand(text) });
    }
    this.#lineStart = end;
    this.#pieces = [];
    this.#waiting = "";
  }
}

/** Whether a line that begins so could become a command. Once it could not, it never can. */
function beginsCommand(line: string): boolean {
  if (line.length > commandLineCharsMax) return false;
  return starts.some((start) => line.startsWith(start) || start.startsWith(line));
}

/** The command before the mark, or null if the line does not end as a command line does. */
function withoutMark(line: string, nonce: string): string | null {
  const end = `) ${nonce}`;
  const text = line.trimEnd();
  const isWhole = starts.some((start) => text.startsWith(start)) && text.endsWith(end);
  return isWhole ? text.slice(0, -nonce.length - 1) : null;
}
