import { ok, type Result } from "../base/index.ts";
import type { State } from "../engine/index.ts";
import { type BlockView, blockViewOf, factValue, viewBlocks } from "../engine/moment/index.ts";
import { readManifestNote, writeSelectedField } from "../notes/index.ts";
import type { SelectedRow, SelectionAnswer } from "./answers/context-answers.ts";
import { streamModeOf } from "./choose-stream.ts";
import { type NextManifest, nextManifest, nextManifestText } from "./next-manifest.ts";
import type { QueryDeps } from "./queries.ts";

/** The blocks the user has selected in a stream, and the line about them that its model will read. */
export async function selectionAnswer(
  deps: QueryDeps,
  state: State,
  requested: number | undefined,
): Promise<Result<SelectionAnswer>> {
  const next = await nextManifest(deps, state, requested);
  if (!next.ok) return next;
  const { session, seq } = state;
  if (next.value === null)
    return ok({ session, seq, stream: null, mode: "observe", selected: [], told: null });
  const { moment, stream } = next.value;
  return ok({
    session,
    seq,
    stream: stream.id,
    mode: streamModeOf(moment, stream),
    selected: selectedRows(next.value),
    told: selectionLine(next.value),
  });
}

function selectedRows({ moment, view, facts }: NextManifest): readonly SelectedRow[] {
  const names = new Map(facts.recency.selected.map(({ block, name }) => [block, name]));
  const isSelected = (blockView: BlockView | null): boolean =>
    blockView !== null && factValue(blockView, "selection");
  return [...viewBlocks(moment, view)]
    .filter(({ id }) => isSelected(blockViewOf(moment, view, id)))
    .map(({ id }) => ({ block: id, name: names.get(id) ?? null, told: names.has(id) }));
}

/** The manifest's field about the selection. Content cannot end that field early. */
function selectionLine(next: NextManifest): string | null {
  const manifest = readManifestNote(nextManifestText(next, "summary"));
  const field = manifest?.lines.flat().find(({ type }) => type === "selected");
  return field?.type === "selected" ? writeSelectedField(field) : null;
}
