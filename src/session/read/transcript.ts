import { blockId, type Json, must, ok, type Result } from "../../base/index.ts";
import { isCommandTool } from "../../commands/index.ts";
import {
  type AddedBlock,
  blocksOf,
  lastSent,
  type Moment,
  notesOf,
  type Place,
  pathOf,
  placeOf,
  type Shown,
  type View,
  wantedOf,
} from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { tokensAs } from "./block-levels.ts";
import { chosenStream, modelIn, viewIn } from "./look.ts";
import { closedRows } from "./transcript-pairs.ts";
import type { TranscriptAnswer, TranscriptRow } from "./transcript-rows.ts";
import { wordedContent } from "./transcript-words.ts";
import { jsonIn } from "./wire-look.ts";

const userKinds: readonly string[] = ["user", "tool-result", "media"];
const modelKinds: readonly string[] = ["assistant", "tool-call"];

/**
 * What a model has before it, as a client would have to keep it to go on without us: every block at the level
 * that is wanted of it, no reasoning, which its provider takes back only behind what it was made behind, and
 * nothing that the model said to us alone.
 */
export async function transcriptAnswer(
  store: Store,
  moment: Moment,
  wanted: number | undefined,
): Promise<Result<TranscriptAnswer>> {
  const chosen = chosenStream(moment, wanted);
  if (!chosen.ok) return chosen;
  const stream = chosen.value;
  const view = stream === null ? null : viewIn(moment, stream);
  const places = view === null ? [] : heldPlaces(moment, view);
  const rows: TranscriptRow[] = [];
  let pruned = 0;
  for (const place of places) {
    const role = roleOf(place.block);
    if (role === null) continue;
    const { bytes, isPruned } = await wordedContent({ store, session: moment.state.session }, place);
    if (isPruned) pruned += 1;
    const content = bytes === null ? undefined : (jsonIn(bytes) as Json | undefined);
    if (content !== undefined && !isOurs(content)) rows.push({ role, content: [content] });
  }
  const reasoning = places.filter(({ block }) => block.kind === "reasoning").length;
  const { session, identity } = moment.state;
  return ok({
    session,
    seq: moment.seq,
    stream: stream?.id ?? null,
    client: identity?.client ?? "unknown",
    model: modelIn(moment, stream),
    rows: closedRows(rows),
    tokens: sizeOf(places, (place) => wantedOf(place)),
    rawTokens: sizeOf(places, () => "original"),
    left: { reasoning, pruned },
  });
}

/** Reasoning is in neither: no client can take it elsewhere. */
function sizeOf(places: readonly Place[], as: (place: Place) => Shown): number {
  return places.reduce((sum, place) => {
    const notes = notesOf(place.moment, place.block.id);
    const isSaid = notes !== null && roleOf(place.block) !== null;
    return sum + (isSaid ? (tokensAs(notes, as(place)) ?? 0) : 0);
  }, 0);
}

/** The blocks of the last request in its order, and what was said since. */
function heldPlaces(moment: Moment, view: View): readonly Place[] {
  const { units } = moment.state;
  const sent = pathOf(moment, view).flatMap((id) =>
    must(units.get(id), "a path is made of sent units").shows.map(({ block }) => block),
  );
  const sentSeq = lastSent(moment, view)?.seq ?? 0;
  const since = [...blocksOf(moment, view)].filter(({ addedSeq }) => addedSeq > sentSeq);
  const ids = [...new Set([...sent, ...since.map(({ id }) => id)])];
  return ids.flatMap((id) => placeOf(moment, view, blockId(id)) ?? []);
}

function roleOf({ kind }: AddedBlock): TranscriptRow["role"] | null {
  if (userKinds.includes(kind)) return "user";
  return modelKinds.includes(kind) ? "assistant" : null;
}

/** A call of our tools; its result goes with it, for want of a call. */
function isOurs(content: Json): boolean {
  const fields = typeof content === "object" && content !== null && !Array.isArray(content) ? content : {};
  const { type, name } = fields as { readonly [key: string]: Json };
  return type === "tool_use" && typeof name === "string" && isCommandTool(name);
}
