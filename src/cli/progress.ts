import type { VerbCall } from "./verb-call.ts";

/** The progress of long work, drawn on a terminal only. */
export type Progress = { readonly step: (by?: number) => void; readonly end: () => void };

type ProgressTotal = { readonly what: string; readonly total: number };

const cells = 24;
/** Short work draws nothing, so that the line does not flicker. */
const [showsAfterMs, everyMs] = [400, 100];
const clearLine = `\r${String.fromCharCode(27)}[K`;

export function openProgress(call: Pick<VerbCall, "flags">, { what, total }: ProgressTotal): Progress {
  const isShown = process.stderr.isTTY === true && !call.flags.has("quiet") && total > 0;
  const startMs = performance.now();
  let [done, drawnMs, isDrawn] = [0, 0, false];
  const draw = () => {
    const nowMs = performance.now();
    if (!isShown || nowMs - startMs < showsAfterMs || nowMs - drawnMs < everyMs) return;
    [drawnMs, isDrawn] = [nowMs, true];
    process.stderr.write(`${clearLine}${progressText({ what, total, done })}`);
  };
  // The first step may already take long.
  const first = isShown ? setTimeout(draw, showsAfterMs + 1).unref() : undefined;
  return {
    step: (by = 1) => {
      done += by;
      draw();
    },
    end: () => {
      clearTimeout(first);
      if (isDrawn) process.stderr.write(clearLine);
    },
  };
}

/** `[#####...] 41/120 sessions`. */
function progressText({ what, total, done }: ProgressTotal & { readonly done: number }): string {
  const filled = Math.round((Math.min(done, total) / Math.max(1, total)) * cells);
  return `[${"#".repeat(filled)}${".".repeat(cells - filled)}] ${done}/${total} ${what}`;
}
