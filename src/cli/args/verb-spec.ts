/** The form of a verb as data. The parser, the help, the completion scripts and the reference all read it. */

export type Flag = {
  /** Without its dashes. */
  readonly name: string;
  readonly short?: string;
  /** The name of the value in the help. A flag with neither a value nor choices is a switch. */
  readonly value?: string;
  /** The value is a whole number above 0. */
  readonly isCount?: true;
  /** The values it takes. */
  readonly choices?: readonly string[];
  /** The choices are not all: the verb checks the value itself. */
  readonly isOpen?: true;
  readonly about: string;
};

export type Operand = {
  readonly name: string;
  readonly isRequired: boolean;
  /** The last operand may be repeated. */
  readonly isRepeated?: true;
  readonly choices?: readonly string[];
  /** The choices are not all: the verb checks the word itself. */
  readonly isOpen?: true;
};

export type VerbSpec = {
  readonly name: string;
  readonly about: string;
  readonly operands: readonly Operand[];
  /** Everything after the first operand belongs to the program that the verb starts. */
  readonly passesOn?: true;
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
};

export function takesValue({ value, choices }: Flag): boolean {
  return value !== undefined || choices !== undefined;
}

/** The flag as a user writes it: `--limit N`, `--mode observe|ask|auto`, `-q, --quiet`. */
export function flagText(flag: Flag): string {
  const { name, short, value, choices } = flag;
  const long = takesValue(flag) ? `--${name} ${choices?.join("|") ?? value}` : `--${name}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

// Flags that several verbs share.
export const json: Flag = { name: "json", about: "print the API's answer as one JSON value" };
export const at: Flag = { name: "at", value: "SEQ", isCount: true, about: "as of this seq" };
export const watch: Flag = { name: "watch", about: "print again after every change, until Ctrl-C" };
export const limit: Flag = { name: "limit", value: "N", isCount: true, about: "maximum number of rows" };
export const stream: Flag = {
  name: "stream",
  value: "N",
  isCount: true,
  about: "number of the stream (default: the first)",
};
