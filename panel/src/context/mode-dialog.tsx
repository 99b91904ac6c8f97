import { useEffect, useState } from "react";
import type { PricedSession } from "../api/contract.ts";
import { moneyText, tokensText } from "../base/words.ts";
import { Dialog } from "../parts/dialog.tsx";
import { type Mode, modeAbout, setMode } from "./acts.ts";

/** Whether a mode makes the next prompt begin otherwise: ours stands in it, or stands in it no more. */
function isPaid({ mode, cached }: PricedSession, wanted: Mode): boolean {
  return cached > 0 && (mode === "observe") !== (wanted === "observe");
}

/** A mode that somebody wants: set at once, or `asked` about where it has a price. */
export function useModeWish(session: string, row: PricedSession | null) {
  const [wanted, setWanted] = useState<Mode | null>(null);
  const asked = wanted !== null && row !== null && isPaid(row, wanted) ? wanted : null;
  useEffect(() => {
    if (wanted === null || row === null || asked !== null) return;
    setWanted(null);
    void setMode(session, wanted);
  }, [session, row, wanted, asked]);
  return { asked, setWanted };
}

export type ModeDialogProps = {
  readonly row: PricedSession;
  readonly mode: Mode;
  readonly onClose: () => void;
};

/** What it costs to switch in the middle of a session, before it is done. */
export function ModeDialog({ row, mode, onClose }: ModeDialogProps) {
  const title = `Switch to ${mode}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <h2>{title}</h2>
      <p>In this mode {modeAbout[mode]}.</p>
      <p>
        The next prompt then begins otherwise, so the provider reads about {tokensText(row.cached)} tokens
        anew that are in its cache now: <b>{moneyText(row.anew)}</b> more, once. After a pause that is longer
        than the cache lives it costs nothing.
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
