import { must, ok, type Result } from "../../base/index.ts";
import type { AddedBlock } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import type { Moment } from "../../engine/moment/index.ts";
import type { RunDeps } from "../run-deps.ts";
import { wire } from "../runtime-protocol.ts";

/** The system texts there were when the present path began, and all there are now. */
export type SystemTexts = { readonly sent: readonly string[]; readonly now: readonly string[] };

/** A path keeps its head, so later texts stay among the messages until a new path begins. */
export async function readSystemTexts(
  { log, index }: Pick<RunDeps, "log" | "index">,
  moment: Moment,
  view: View,
): Promise<Result<SystemTexts>> {
  const startSeq = pathStart(view) ?? moment.seq;
  const blocks = index.blocksOfKind(moment, view.stream, "system");
  const read = await log.contents.load(blocks.map(({ content }) => content));
  if (!read.ok) return read;
  const textOf = ({ content }: AddedBlock): string => wire.read.text(read.value(content)) ?? "";
  return ok({
    sent: blocks.filter(({ addedSeq }) => addedSeq <= startSeq).map(textOf),
    now: blocks.map(textOf),
  });
}

/** The seq of the prompt that began the path. A rewrite of the ledger has a cut and keeps the head. */
function pathStart({ epochs, sent }: View): number | null {
  for (let at = epochs.size - 1; at >= 0; at -= 1) {
    const { cut, seq } = must(epochs.get(at), "epochs have no gaps");
    if (cut === null) return seq;
  }
  return sent.get(0)?.seq ?? null;
}
