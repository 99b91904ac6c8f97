import { type CommandLine, TextHold } from "../../commands/index.ts";

/**
 * One text of an answer on its way to the client, without its command lines. Blanks wait until something is
 * said: of a text that says nothing else the client must get nothing, for it could not send a blank one back.
 */
export class SiftedText {
  readonly #hold: TextHold;
  readonly #commands: CommandLine[] = [];
  #blanks = "";
  #isShown = false;

  constructor(nonce: string) {
    this.#hold = new TextHold(nonce);
  }

  get commands(): readonly CommandLine[] {
    return this.#commands;
  }

  /** Whether the client has got something of it. */
  get isShown(): boolean {
    return this.#isShown;
  }

  push(text: string): string {
    const { passed, commands } = this.#hold.push(text);
    this.#commands.push(...commands);
    return this.#shown(passed);
  }

  /** Nothing more will come of it. Without commands all of it is the client's, blanks too. */
  end(): string {
    const { passed, commands } = this.#hold.end();
    this.#commands.push(...commands);
    const shown = this.#shown(passed);
    if (this.#isShown || this.#commands.length > 0) return shown;
    this.#isShown = true;
    return this.#blanks;
  }

  #shown(passed: string): string {
    if (this.#isShown) return passed;
    const all = `${this.#blanks}${passed}`;
    this.#isShown = all.trim() !== "";
    this.#blanks = this.#isShown ? "" : all;
    return this.#isShown ? all : "";
  }
}

/** A whole text without its command lines; null: nothing is left of it. */
export function siftedWhole(text: string, nonce: string): SiftedWhole {
  const sifted = new SiftedText(nonce);
  const left = `${sifted.push(text)}${sifted.end()}`;
  return { left: sifted.isShown ? left : null, commands: sifted.commands };
}
export type SiftedWhole = { readonly left: string | null; readonly commands: readonly CommandLine[] };
