import { blockId, type ContentHash, fail, isCount, must, ok, type Result } from "../../base/index.ts";
import {
  type BlockNotes,
  blockOf,
  type Level,
  type Moment,
  notesOf,
  type Place,
  placeOf,
  type Stream,
  streamOf,
} from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import type { LevelRow, PendingRow } from "./act-rows.ts";
import { levelRows, pendingRow } from "./block-levels.ts";
import { rowMaker } from "./block-row.ts";
import { contentPiece, pieceBytesUsual } from "./content-piece.ts";
import { historyOf } from "./history.ts";
import { chosenStream, modeIn, viewIn } from "./look.ts";
import { placeholderWords } from "./placeholder-words.ts";
import type { BlockQuestion } from "./questions.ts";
import type { BlockDetail, BlockRow } from "./rows.ts";
import { fitOf, fitted } from "./state-row.ts";
import { wireTypeOf } from "./wire-look.ts";

export type Found = { readonly place: Place; readonly stream: Stream };

export async function blockDetail(
  store: Store,
  moment: Moment,
  question: BlockQuestion,
): Promise<Result<BlockDetail>> {
  const found = findPlace(moment, question);
  if (!found.ok) return found;
  const { place, stream } = found.value;
  const notes = must(notesOf(moment, place.block.id), "a block that is there has notes");
  const hash = hashAt(place, notes, question.level ?? "original");
  if (hash === null) return fail("AP_BLOCK_UNKNOWN", { block: question.block });
  const content = await store.content(hash);
  const history = await historyOf(store, place);
  if (!history.ok) return history;
  const range = { from: question.from ?? 0, length: question.length ?? pieceBytesUsual };
  const share = fitOf(moment, stream, place.view);
  const block = fitted(rowMaker(moment, stream, place.view)(place), share);
  return ok({
    session: moment.state.session,
    seq: moment.seq,
    block,
    wireType: content.ok ? wireTypeOf(content.value) : null,
    content: content.ok ? contentPiece(content.value, range) : null,
    // Purged, or not on disk yet: everything else about the block is still true.
    problem: content.ok ? null : content.error.code,
    placeholder: await placeholderWords(store, place),
    levels: levelRows(notes).map((row) => fittedLevel(row, block)),
    pending: fittedPending(pendingRow(place, notes, modeIn(moment, stream)), block, share),
    history: history.value,
  });
}

/** Null: nothing was made of it at this level. */
function hashAt({ block }: Place, { renditions }: BlockNotes, level: Level): ContentHash | null {
  return level === "original" ? block.content : (renditions[level]?.content ?? null);
}

/** By the sizes of the row: no two places say two things about one block. */
function fittedLevel(row: LevelRow, { sizes, exact }: BlockRow): LevelRow {
  const tokens = sizes[row.level] ?? row.tokens;
  return { ...row, tokens, exact: row.exact && (exact || tokens === row.tokens) };
}

function fittedPending(pending: PendingRow | null, { counted }: BlockRow, share: number): PendingRow | null {
  if (pending === null || pending.frees === null || !counted) return pending;
  return { ...pending, frees: Math.round(pending.frees * share) };
}

export function findPlace(
  moment: Moment,
  { block, stream: wanted }: Pick<BlockQuestion, "block" | "stream">,
): Result<Found> {
  const unknown = fail("AP_BLOCK_UNKNOWN", { block });
  const added = isCount(block) ? blockOf(moment, blockId(block)) : null;
  if (added === null) return unknown;
  const chosen = wanted === undefined ? ok(streamOf(moment, added.stream)) : chosenStream(moment, wanted);
  if (!chosen.ok) return chosen;
  const stream = must(chosen.value, "a block has a stream");
  const view = viewIn(moment, stream);
  const place = view === null ? null : placeOf(moment, view, added.id);
  return place === null ? unknown : ok({ place, stream });
}
