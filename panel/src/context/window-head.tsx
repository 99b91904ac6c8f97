import type { StateRow, WindowRow } from "../api/contract.ts";
import { countedText, manyText, percentText, sizeText, tokensText } from "../base/words.ts";

/** How full it is: tokens and percent, always of what is used. */
export function WindowHead({ state }: { readonly state: StateRow }) {
  const { window, lowered, marks } = state;
  const turnsLeft = marks.forecast?.turnsLeft ?? null;
  return (
    // The exact numbers and the seq they are of stand beside what is rounded for people.
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
          <b>~{turnsLeft}</b> {turnsLeft === 1 ? "turn" : "turns"} left
        </span>
      )}
      {lowered.blocks === 0 ? null : (
        <span>
          {manyText(lowered.blocks, "block")} shown shorter, <b>{tokensText(lowered.tokens)}</b> left out
        </span>
      )}
    </div>
  );
}

/** How much of it is used, in percent; where nobody knows how much fits, that is said instead. */
function Size({ window: { used, size } }: { readonly window: WindowRow }) {
  if (size === null) return <span title="No size is known for this model">? (window unknown)</span>;
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
