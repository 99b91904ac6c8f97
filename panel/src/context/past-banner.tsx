import { useState } from "react";
import type { StateRow } from "../api/contract.ts";
import { copyText } from "../base/copy.ts";
import { say, warn } from "../parts/toasts.tsx";
import { ForkDialog, RestoreDialog } from "./past-dialogs.tsx";

export type PastBannerProps = { readonly state: StateRow; readonly onLive: () => void };

/** What is old is never taken for what is. From here one can go on, or have it again. */
export function PastBanner({ state, onLive }: PastBannerProps) {
  const { session, seq: at, head, model } = state;
  const [open, setOpen] = useState<"restore" | "fork" | null>(null);
  const dialog = { session, at, model, onClose: () => setOpen(null) };
  const copy = (): void => {
    void copyText(location.href).then((isCopied) =>
      isCopied ? say("The link to this moment is copied") : warn(`Copy it yourself: ${location.href}`),
    );
  };
  return (
    <>
      <div className="past-banner" role="status">
        <span>
          Viewing {at} of {head} — read-only
        </span>
        <button type="button" className="button small" onClick={copy}>
          Copy link
        </button>
        <button type="button" className="button small" onClick={() => setOpen("restore")}>
          Restore…
        </button>
        <button type="button" className="button small" onClick={() => setOpen("fork")}>
          Fork from here…
        </button>
        <button type="button" className="button small" onClick={onLive}>
          Back to live <kbd>.</kbd>
        </button>
      </div>
      {open === "restore" ? <RestoreDialog {...dialog} /> : null}
      {open === "fork" ? <ForkDialog {...dialog} /> : null}
    </>
  );
}
