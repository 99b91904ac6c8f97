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

const arrows = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] as const;

/** What inputs that hold no text do with keys themselves. */
const ownKeys: Readonly<Record<string, readonly string[]>> = {
  checkbox: [" ", "Enter"],
  radio: [" ", "Enter", ...arrows],
  range: [...arrows, "Home", "End", "PageUp", "PageDown"],
};

/** Whether a field that has the focus, by its `type`, uses a key itself. Into any other, text is typed. */
export function isKeyOf(type: string, key: string): boolean {
  return Object.hasOwn(ownKeys, type) ? ownKeys[type]?.includes(key) === true : true;
}
