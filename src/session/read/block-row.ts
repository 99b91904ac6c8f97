import { must } from "../../base/index.ts";
import {
  type AddedBlock,
  type BlockNotes,
  blocksOf,
  factValue,
  isFocused,
  isPinned,
  isWithheld,
  lastSent,
  lifecycleOf,
  type Moment,
  notesOf,
  type Place,
  placeOf,
  type Shown,
  type Stream,
  shownOf,
  type Tokens,
  turnNow,
  type View,
  viewOf,
  wantedOf,
  zoneOf,
} from "../../engine/index.ts";
import { isWaiting, sizesOf } from "./block-levels.ts";
import type { BlockOrigin, BlockRow } from "./rows.ts";

/** What all rows of one view share, looked up once. */
export type RowMaker = (place: Place) => BlockRow;

export function blockRows(moment: Moment, stream: Stream, view: View): readonly BlockRow[] {
  const row = rowMaker(moment, stream, view);
  return [...blocksOf(moment, view)].map((block) =>
    row(must(placeOf(moment, view, block.id), "a view reaches its blocks")),
  );
}

export function rowMaker(moment: Moment, stream: Stream, view: View): RowMaker {
  const turn = turnNow(moment, stream);
  const sentSeq = lastSent(moment, view)?.seq ?? 0;
  const firstRequest = firstRequests(moment, view);
  return (place) => {
    const { block } = place;
    const notes = must(notesOf(moment, block.id), "a block that is there has notes");
    const shown = shownOf(moment, view, block.id);
    const wanted = wantedOf(place);
    const tokens = tokensOf(notes, shown);
    const ttl = factValue(place, "ttl");
    return {
      n: block.id,
      zone: zoneOf(place),
      kind: block.kind,
      topic: notes.topics[0] ?? null,
      tokens: tokens?.count ?? null,
      exact: tokens?.exact ?? false,
      level: factValue(place, "level"),
      shown,
      wanted,
      pending: isWaiting({ shown, wanted }, notes),
      sizes: sizesOf(notes),
      counted: isCounted(place, { shown, sentSeq }),
      pinned: isPinned(place),
      focused: isFocused(place),
      selected: factValue(place, "selection"),
      withheld: isWithheld(place),
      ttl: ttl === null ? null : Math.max(0, ttl.at - turn),
      lastUsedTurn: factValue(place, "reference").turn,
      state: lifecycleOf(place),
      origin: originOf(block),
      speaker: block.speaker,
      message: block.message,
      turn: block.turn,
      stream: block.stream,
      addedSeq: block.addedSeq,
      firstRequest: firstRequest(block),
    };
  };
}

/** The level shown, where it has a text of its own; a placeholder stands for the original. */
function tokensOf(notes: BlockNotes, shown: Shown): Tokens | null {
  const rendition = shown === "placeholder" || shown === "absent" ? undefined : notes.renditions[shown];
  return rendition?.tokens ?? notes.tokens;
}

type Showing = { readonly shown: Shown; readonly sentSeq: number };

/** An answer is in the window as soon as it is there, although the ledger shows it with the next request. */
function isCounted(place: Place, { shown, sentSeq }: Showing): boolean {
  if (shown === "placeholder") return false;
  if (shown !== "absent") return true;
  const isNew = place.block.addedSeq > sentSeq && place.block.stream === place.view.stream;
  return isNew && factValue(place, "archive") === null && !isWithheld(place);
}

export function originOf({ kind, taint }: Pick<AddedBlock, "kind" | "taint">): BlockOrigin {
  switch (kind) {
    case "tool-result":
      return "tool";
    case "assistant":
    case "reasoning":
    case "tool-call":
      return "model";
    case "memory":
    case "ambient":
    case "notice":
    case "activation":
      return "aperture";
    default:
      return taint === "untrusted" ? "tool" : taint;
  }
}

/** The exchange with which a block was shown first, by this view or by those it was forked from. */
function firstRequests(moment: Moment, view: View): (block: AddedBlock) => number | null {
  const chain: { readonly view: View; readonly seq: number; readonly sent: ReadonlyMap<number, number> }[] =
    [];
  for (let [then, seq] = [view as View | null, moment.seq as number]; then !== null; ) {
    const sent = new Map([...then.sent.entries()].map(([, turn]) => [turn.seq as number, turn.exchange]));
    chain.push({ view: then, seq, sent });
    seq = Math.min(seq, then.parent?.seq ?? seq);
    then = then.parent === null ? null : viewOf(moment, then.parent.view);
  }
  // The oldest first: a fork was shown what its parent had been shown before.
  chain.reverse();
  return ({ id }) => {
    for (const { view: then, seq, sent } of chain) {
      const first = oldestSeq(then.shown.get(id));
      if (first !== null && first <= seq) return sent.get(first) ?? null;
    }
    return null;
  };
}

type Log = { readonly seq: number; readonly previous: Log | null };

function oldestSeq(newest: Log | undefined): number | null {
  let log = newest ?? null;
  while (log !== null && log.previous !== null) log = log.previous;
  return log?.seq ?? null;
}
