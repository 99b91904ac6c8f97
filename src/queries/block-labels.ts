import { cutText, ok, type Result } from "../base/index.ts";
import { callLabel, type Part, partText, toolLabel } from "../content/index.ts";
import type { BlockView, Moment } from "../engine/moment/index.ts";
import { readPart } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";
import type { LabelRow, LabelsAnswer } from "./answers/block-answers.ts";
import { callContent, locateBlock } from "./find-block.ts";

const labelCharsMax = 100;

/** One line for each block, for lists: `Read src/auth/token.ts`, or its first words. */
export async function labelsAnswer(
  store: Store,
  moment: Moment,
  blocks: readonly number[],
): Promise<Result<LabelsAnswer>> {
  const rows: LabelRow[] = [];
  for (const block of blocks) {
    const located = locateBlock(moment, { block });
    if (located.ok) rows.push({ block, label: await blockLabel(store, located.value.blockView) });
  }
  return ok({ session: moment.state.session, seq: moment.seq, rows });
}

async function blockLabel(store: Store, blockView: BlockView): Promise<string | null> {
  const { content, kind } = blockView.block;
  const stored = await store.content(content);
  if (!stored.ok) return null;
  // A result is labelled by its call.
  const call = kind === "tool-result" ? await callContent(store, blockView, stored.value) : null;
  return contentLabel(readPart(call ?? stored.value, blockView.block));
}

/** Null if there is no text, as in reasoning that was never visible. */
export function contentLabel(part: Part): string | null {
  const text = callLabel(part) ?? toolLabel(part) ?? partText(part);
  return text === null ? null : oneLine(text);
}

function oneLine(text: string): string | null {
  const start = text
    .slice(0, labelCharsMax * 20)
    .replace(/\s+/g, " ")
    .trim();
  if (start === "") return null;
  return start.length > labelCharsMax ? `${cutText(start, labelCharsMax - 1)}…` : start;
}
