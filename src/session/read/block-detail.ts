import { blockId, fail, isCount, must, ok, type Result } from "../../base/index.ts";
import {
  blockOf,
  type Moment,
  notesOf,
  type Place,
  placeOf,
  type Stream,
  streamOf,
} from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { levelRows, pendingRow } from "./block-levels.ts";
import { rowMaker } from "./block-row.ts";
import { contentPiece, pieceBytesUsual } from "./content-piece.ts";
import { historyOf } from "./history.ts";
import { chosenStream, modeIn, viewIn } from "./look.ts";
import type { BlockQuestion } from "./questions.ts";
import type { BlockDetail } from "./rows.ts";
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
  const content = await store.content(place.block.content);
  const history = await historyOf(store, place);
  if (!history.ok) return history;
  const notes = must(notesOf(moment, place.block.id), "a block that is there has notes");
  const range = { from: question.from ?? 0, length: question.length ?? pieceBytesUsual };
  return ok({
    session: moment.state.session,
    seq: moment.seq,
    block: rowMaker(moment, stream, place.view)(place),
    wireType: content.ok ? wireTypeOf(content.value) : null,
    content: content.ok ? contentPiece(content.value, range) : null,
    // Purged, or not on disk yet: everything else about the block is still true.
    problem: content.ok ? null : content.error.code,
    placeholder: null,
    levels: levelRows(notes),
    pending: pendingRow(place, notes, modeIn(moment, stream)),
    history: history.value,
  });
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
