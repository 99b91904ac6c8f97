import type { KeyboardEvent } from "react";

export type TabsProps<T extends string> = {
  readonly names: readonly T[];
  readonly chosen: T;
  readonly onChoose: (name: T) => void;
  readonly label: string;
  readonly titles?: Readonly<Record<T, string>>;
};

/** A tab list. The left and right arrow keys switch tabs. */
export function Tabs<T extends string>({ names, chosen, onChoose, label, titles }: TabsProps<T>) {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = names[names.indexOf(chosen) + step];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    onChoose(next);
    const list = event.currentTarget;
    requestAnimationFrame(() => list.querySelector<HTMLElement>('[aria-selected="true"]')?.focus());
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          tabIndex={name === chosen ? 0 : -1}
          className={name === chosen ? "tab chosen" : "tab"}
          onClick={() => onChoose(name)}
        >
          {titles?.[name] ?? name}
        </button>
      ))}
    </div>
  );
}
