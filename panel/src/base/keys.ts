/** A command of the current screen. A key or the palette runs it; most have a button too. */
export type Command = {
  readonly id: string;
  readonly title: string;
  /** Alternative shortcuts: `z`, `Shift+Z`, `g s`, `Ctrl+k`. */
  readonly keys: readonly string[];
  readonly group: string;
  readonly run: () => void;
};

/** The name of the pressed key, in the notation of `Command.keys`. */
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

/** The command with this shortcut; `chord` if the keys are the start of a longer one. */
export function commandFor(pressed: string, commands: readonly Command[]): Command | "chord" | null {
  const innermostFirst = [...commands].reverse();
  const exact = innermostFirst.find(({ keys }) => keys.includes(pressed));
  if (exact !== undefined) return exact;
  return innermostFirst.some(({ keys }) => keys.some((key) => key.startsWith(`${pressed} `)))
    ? "chord"
    : null;
}

const arrows = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] as const;

/** The keys that inputs without text handle themselves. */
const ownKeys: Readonly<Record<string, readonly string[]>> = {
  checkbox: [" ", "Enter"],
  radio: [" ", "Enter", ...arrows],
  range: [...arrows, "Home", "End", "PageUp", "PageDown"],
};

/** True if a focused input of this `type` handles the key itself. Text inputs handle every key. */
export function isKeyOf(type: string, key: string): boolean {
  return Object.hasOwn(ownKeys, type) ? ownKeys[type]?.includes(key) === true : true;
}
