const styles = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof styles;
export type Paint = (style: Style, text: string) => string;

export const plain: Paint = (_, text) => text;

/** For scripts: no colours, and tables have one tab between columns. */
export const tabbed: Paint = (_, text) => text;

const escapeMark = String.fromCharCode(27);

export const coloured: Paint = (style, text) => {
  const [on, off] = styles[style];
  return text === "" ? "" : `${escapeMark}[${on}m${text}${escapeMark}[${off}m`;
};

export type ColourInput = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
  readonly isSwitchedOff: boolean;
};

/** Colours go to a terminal, or to a pipe only if FORCE_COLOR asks for them. */
export function wantsColour({ env, isTerminal, isSwitchedOff }: ColourInput): boolean {
  if (isSwitchedOff || isSet(env["NO_COLOR"])) return false;
  if (isSet(env["FORCE_COLOR"])) return env["FORCE_COLOR"] !== "0";
  return isTerminal && env["TERM"] !== "dumb";
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
