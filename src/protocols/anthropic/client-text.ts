import { type CommandLine, CommandLineFilter } from "../../commands/index.ts";

/**
 * One text of an answer on its way to the client, without its command lines. Blanks are held until other text
 * follows: if nothing else is left, the client must get nothing, because it could not send a blank text back.
 */
export class ClientText {
  readonly #filter: CommandLineFilter;
  readonly #commands: CommandLine[] = [];
  #blanks = "";
  #isShown = false;

  constructor(nonce: string) {
    this.#filter = new CommandLineFilter(nonce);
  }

  get commands(): readonly CommandLine[] {
    return this.#commands;
  }

  /** The client has got some of the text. */
  get isShown(): boolean {
    return this.#isShown;
  }

  push(text: string): string {
    const { passed, commands } = this.#filter.push(text);
    this.#commands.push(...commands);
    return this.#holdBlanks(passed);
  }

  /** Ends the text. Without commands the client gets all of it, blanks too. */
  end(): string {
    const { passed, commands } = this.#filter.end();
    this.#commands.push(...commands);
    const shown = this.#holdBlanks(passed);
    if (this.#isShown || this.#commands.length > 0) return shown;
    this.#isShown = true;
    return this.#blanks;
  }

  #holdBlanks(passed: string): string {
    if (this.#isShown) return passed;
    const all = `${this.#blanks}${passed}`;
    this.#isShown = all.trim() !== "";
    this.#blanks = this.#isShown ? "" : all;
    return this.#isShown ? all : "";
  }
}

/** Takes the command lines out of a whole text; `left` is null if the client gets nothing. */
export function filterWholeText(
  text: string,
  nonce: string,
): { readonly left: string | null; readonly commands: readonly CommandLine[] } {
  const clientText = new ClientText(nonce);
  const left = `${clientText.push(text)}${clientText.end()}`;
  return { left: clientText.isShown ? left : null, commands: clientText.commands };
}
