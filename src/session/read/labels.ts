import { cutText, ok, type Result } from "../../base/index.ts";
import type { BlockKind, Moment, Place } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { findPlace } from "./block-detail.ts";
import { callContent } from "./call-content.ts";
import type { LabelRow, LabelsAnswer } from "./rows.ts";
import { callLabel, storedWords, toolLabel } from "./stored-words.ts";

const labelCharsMax = 100;

/** What blocks are about, for those who look through many: `Read src/auth/token.ts`, or their first words. */
export async function labelsAnswer(
  store: Store,
  moment: Moment,
  blocks: readonly number[],
): Promise<Result<LabelsAnswer>> {
  const rows: LabelRow[] = [];
  for (const block of blocks) {
    const found = findPlace(moment, { block });
    if (found.ok) rows.push({ block, label: await placeLabel(store, found.value.place) });
  }
  return ok({ session: moment.state.session, seq: moment.seq, rows });
}

async function placeLabel(store: Store, place: Place): Promise<string | null> {
  const { content, kind } = place.block;
  const stored = await store.content(content);
  if (!stored.ok) return null;
  // A result is known by what was asked for.
  const call = kind === "tool-result" ? await callContent(store, place, stored.value) : null;
  return contentLabel(call ?? stored.value, kind);
}

/** Null: it says nothing, as reasoning that was never visible. */
export function contentLabel(bytes: Uint8Array, kind: BlockKind): string | null {
  const words = callLabel(bytes) ?? toolLabel(bytes) ?? storedWords(bytes, kind);
  return words === null ? null : oneLine(words);
}

function oneLine(words: string): string | null {
  const start = words
    .slice(0, labelCharsMax * 20)
    .replace(/\s+/g, " ")
    .trim();
  if (start === "") return null;
  return start.length > labelCharsMax ? `${cutText(start, labelCharsMax - 1)}…` : start;
}
