import type { WindowRow } from "../api/contract.ts";
import { percent } from "./percent.ts";

/** A small bar of the used window. The text beside it says the same. */
export function MiniStrip({ window: { used, size } }: { readonly window: WindowRow }) {
  if (size === null) return <span className="mini-unknown" aria-hidden="true" />;
  const share = size === 0 ? 0 : Math.min(1, used / size);
  return (
    <svg className="mini-strip" width="100%" height={8} aria-hidden="true">
      <rect className="strip-free" width="100%" height={8} />
      <rect
        className={`mini-used ${share >= 0.85 ? "critical" : share >= 0.7 ? "full" : "calm"}`}
        width={percent(share)}
        height={8}
      />
    </svg>
  );
}
