import { useState } from "react";
import { useAvailableCommands } from "../base/commands.ts";
import type { Command } from "../base/keys.ts";
import { Dialog } from "./dialog.tsx";

export type PaletteProps = { readonly onClose: () => void };

/** Lists every available command and filters the list by the typed words. */
export function Palette({ onClose }: PaletteProps) {
  const available = useAvailableCommands().filter(({ id }) => id !== "palette");
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const found = available.filter((command) => matches(command, typed));
  const chosen = Math.min(at, found.length - 1);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    // Closing returns the focus; the command may move it afterwards.
    setTimeout(command.run);
  };
  return (
    <Dialog title="Command palette" onClose={onClose} className="palette">
      <input
        autoFocus
        className="input"
        role="combobox"
        aria-label="Find a command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[chosen] === undefined ? undefined : `palette-${found[chosen].id}`}
        placeholder="Find a command"
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") run(found[chosen]);
          const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (step === 0) return;
          event.preventDefault();
          setAt(Math.max(0, Math.min(found.length - 1, chosen + step)));
        }}
      />
      <div id="palette-list" className="palette-list" role="listbox" aria-label="Commands">
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys.
          <div
            key={command.id}
            id={`palette-${command.id}`}
            role="option"
            aria-selected={index === chosen}
            className={index === chosen ? "chosen" : ""}
            onClick={() => run(command)}
            tabIndex={-1}
          >
            <span>{command.title}</span>
            <span className="dim">{command.group}</span>
            {command.keys[0] === undefined ? null : <kbd>{command.keys[0]}</kbd>}
          </div>
        ))}
      </div>
      {found.length === 0 ? <p className="dim">No command matches.</p> : null}
    </Dialog>
  );
}

function matches({ title, group }: Command, typed: string): boolean {
  const words = typed.toLowerCase().split(/\s+/);
  const text = `${title} ${group}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
