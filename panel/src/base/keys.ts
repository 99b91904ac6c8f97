/** Something a person can do now: by a key, by the palette, and mostly by a button too. */
export type Command = {
  readonly id: string;
  readonly title: string;
  /** Each way to type it: `z`, `Shift+Z`, `g s`, `Ctrl+k`. */
  readonly keys: readonly string[];
  readonly group: string;
  readonly run: () => void;
};

/** The name of what was typed, as commands write it. */
export function keyName(event: KeyboardEvent): string {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  const isLetter = key.length === 1;
  const parts = [
    ctrlKey || metaKey ? "Ctrl" : "",
    altKey ? "Alt" : "",
    shiftKey && (!isLetter || /[a-z]/i.test(key)) ? "Shift" : "",
    key === " " ? "Space" : isLetter && shiftKey ? key.toUpperCase() : key,
  ];
  return parts.filter((part) => part !== "").join("+");
}

/** The command that what was typed stands for; `chord` where it is the beginning of one. */
export function commandFor(typed: string, commands: readonly Command[]): Command | "chord" | null {
  const last = [...commands].reverse();
  const exact = last.find(({ keys }) => keys.includes(typed));
  if (exact !== undefined) return exact;
  return last.some(({ keys }) => keys.some((key) => key.startsWith(`${typed} `))) ? "chord" : null;
}
