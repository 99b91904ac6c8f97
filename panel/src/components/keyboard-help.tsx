import { singleKeys, useAvailableCommands } from "../base/commands.ts";
import { useStore } from "../base/store.ts";
import { CloseButton, Dialog } from "./dialog.tsx";

/** Lists the keys of the current screen. */
export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  const commands = useAvailableCommands().filter(({ keys }) => keys.length > 0);
  const isOn = useStore(singleKeys);
  const groups = [...new Set(commands.map(({ group }) => group))];
  return (
    <Dialog title="Keyboard" onClose={onClose} className="keys-help">
      <h2>Keyboard</h2>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={(event) => singleKeys.set(event.target.checked)} />
        Single-letter shortcuts
      </label>
      <div className="keys-groups">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {commands
                .filter((command) => command.group === group)
                .map((command) => (
                  <div key={command.id}>
                    <dt>
                      {command.keys.map((key) => (
                        <kbd key={key}>{key}</kbd>
                      ))}
                    </dt>
                    <dd>{command.title}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <CloseButton onClose={onClose} />
    </Dialog>
  );
}
