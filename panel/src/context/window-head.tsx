import type { StateRow, WindowRow } from "../api/contract.ts";
import { countedText, percentText, pluralText, sizeText, tokensText } from "../base/format.ts";

/** The used and free tokens of the window. */
export function WindowHead({ state }: { readonly state: StateRow }) {
  const { window, lowered, marks } = state;
  const turnsLeft = marks.forecast?.turnsLeft ?? null;
  return (
    // `data` and `data-seq` carry the exact numbers for tests and scripts.
    <div className="window-head" data-seq={state.seq}>
      <h1>
        <span className="label">Window</span>{" "}
        <data value={window.used}>{countedText(window.used, window.exact)}</data> / <Size window={window} />
      </h1>
      {window.free === null ? null : (
        <span>
          free{" "}
          <b>
            <data value={window.free}>{countedText(window.free, window.exact)}</data>
          </b>
        </span>
      )}
      {turnsLeft === null ? null : (
        <span>
          full in <b>~{pluralText(turnsLeft, "turn")}</b>
        </span>
      )}
      {lowered.blocks === 0 ? null : (
        <span>
          {pluralText(lowered.blocks, "block")} sent shortened, <b>{tokensText(lowered.tokens)}</b> saved
        </span>
      )}
    </div>
  );
}

/** The size and the used share; `?` if the window of the model is unknown. */
function Size({ window: { used, size } }: { readonly window: WindowRow }) {
  if (size === null)
    return <span title="Aperture does not know the window of this model">? (window unknown)</span>;
  const share = size === 0 ? 0 : used / size;
  return (
    <>
      {sizeText(size)}{" "}
      <span className={`share ${band(share)}`}>
        {bandIcon(share)}({percentText({ part: used, whole: size })} used{bandWord(share)})
      </span>
    </>
  );
}

type Band = "calm" | "full" | "critical";

function band(share: number): Band {
  if (share >= 0.85) return "critical";
  return share >= 0.7 ? "full" : "calm";
}

function bandIcon(share: number): string {
  return { calm: "", full: "▲ ", critical: "■ " }[band(share)];
}

function bandWord(share: number): string {
  return { calm: "", full: ", getting full", critical: ", nearly full" }[band(share)];
}
