import { useEffect, useState } from "react";
import type { PricedSession } from "../api/contract.ts";
import { moneyText, tokensText } from "../base/format.ts";
import { Dialog } from "../components/dialog.tsx";
import { type Mode, modeDescriptions, setMode } from "./actions.ts";

/** True if the mode adds Aperture's instructions to the prompt or removes them, which breaks the cache. */
function breaksCache({ mode, cached }: PricedSession, newMode: Mode): boolean {
  return cached > 0 && (mode === "observe") !== (newMode === "observe");
}

/** Switches the mode at once, or first opens a dialog (`confirming`) if the switch breaks the cache. */
export function useModeSwitch(session: string, row: PricedSession | null) {
  const [newMode, setNewMode] = useState<Mode | null>(null);
  const confirming = newMode !== null && row !== null && breaksCache(row, newMode) ? newMode : null;
  useEffect(() => {
    if (newMode === null || row === null || confirming !== null) return;
    setNewMode(null);
    void setMode(session, newMode);
  }, [session, row, newMode, confirming]);
  return { confirming, setNewMode };
}

export type ModeDialogProps = {
  readonly row: PricedSession;
  readonly mode: Mode;
  readonly onClose: () => void;
};

/** Shows the cost of switching the mode in the middle of a session. */
export function ModeDialog({ row, mode, onClose }: ModeDialogProps) {
  const title = `Switch to ${mode}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>In this mode {modeDescriptions[mode]}.</p>
      <p>
        The switch changes the start of the prompt, so the provider reads about {tokensText(row.cached)}{" "}
        cached tokens again. That costs <b>{moneyText(row.anew)}</b> once. Once the cache has expired it costs
        nothing.
      </p>
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="button primary"
          onClick={() => {
            void setMode(row.id, mode);
            onClose();
          }}
        >
          Switch
        </button>
      </div>
    </Dialog>
  );
}
