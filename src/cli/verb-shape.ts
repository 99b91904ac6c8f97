/** What may stand behind a verb, as data: the reader of arguments, the help and the reference follow it. */

export type Flag = {
  /** Without its dashes. */
  readonly name: string;
  readonly short?: string;
  /** What the value is called; without it the flag is a switch. */
  readonly value?: string;
  /** The value is a whole number above 0. */
  readonly isCount?: true;
  /** The words it may be, for completion; where there are others too, the verb says which. */
  readonly choices?: readonly string[];
  readonly about: string;
};

export type Operand = {
  readonly name: string;
  readonly isRequired: boolean;
  /** The last one may come again and again. */
  readonly isRepeated?: true;
  readonly choices?: readonly string[];
};

export type VerbShape = {
  readonly name: string;
  readonly about: string;
  readonly operands: readonly Operand[];
  /** From the first operand on, everything belongs to the program that is started. */
  readonly passesOn?: true;
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
};

export const json: Flag = { name: "json", about: "print the answer of the API, one JSON value" };
export const session: Flag = {
  name: "session",
  value: "ID",
  about: "which session: an id, the start of one, or last (the default): the newest whose talk could be read",
};
export const at: Flag = { name: "at", value: "SEQ", isCount: true, about: "as it was at this seq" };
export const watch: Flag = {
  name: "watch",
  about: "show it again whenever something happened, until Ctrl-C",
};
export const stream: Flag = {
  name: "stream",
  value: "N",
  isCount: true,
  about: "of this stream; without it, the first",
};
export const limit: Flag = { name: "limit", value: "N", isCount: true, about: "at most so many rows" };
