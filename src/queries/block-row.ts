import { must } from "../base/index.ts";
import type { AddedBlock, BlockAttributes, Shown, Tokens } from "../engine/frames/index.ts";
import type { Stream, View } from "../engine/index.ts";
import {
  attributesOf,
  type BlockView,
  blockViewOf,
  factValue,
  isFocused,
  isPinned,
  isWithheld,
  lastSentTurn,
  lifecycleOf,
  type Moment,
  shownOf,
  turnNow,
  viewBlocks,
  viewOf,
  wantedOf,
  zoneOf,
} from "../engine/moment/index.ts";
import { formOf } from "../protocols/index.ts";
import type { BlockOrigin, BlockRow } from "./answers/block-answers.ts";
import type { VersionChain } from "./block-history.ts";
import { isPendingRewrite, sizesOf } from "./block-levels.ts";

/** Makes the rows of one view; facts that all rows share are looked up once. */
export type BlockRowMaker = (blockView: BlockView) => BlockRow;

export function blockRows(moment: Moment, stream: Stream, view: View): readonly BlockRow[] {
  const row = blockRowMaker(moment, stream, view);
  return [...viewBlocks(moment, view)].map((block) =>
    row(must(blockViewOf(moment, view, block.id), "a view reaches its blocks")),
  );
}

export function blockRowMaker(moment: Moment, stream: Stream, view: View): BlockRowMaker {
  const turn = turnNow(moment, stream);
  const sentSeq = lastSentTurn(moment, view)?.seq ?? 0;
  const firstRequest = firstRequests(moment, view);
  return (blockView) => {
    const { block } = blockView;
    const attributes = must(attributesOf(moment, block.id), "a block that is there has notes");
    const shown = shownOf(moment, view, block.id);
    const wanted = wantedOf(blockView);
    const tokens = tokensOf(attributes, shown);
    const ttl = factValue(blockView, "ttl");
    return {
      n: block.id,
      zone: zoneOf(blockView),
      kind: block.kind,
      form: formOf(block),
      topic: attributes.topics[0] ?? null,
      tokens: tokens?.count ?? null,
      exact: tokens?.exact ?? false,
      level: factValue(blockView, "level"),
      shown,
      wanted,
      pending: isPendingRewrite({ shown, wanted }, attributes),
      sizes: sizesOf(attributes),
      counted: isCounted(blockView, { shown, sentSeq }),
      pinned: isPinned(blockView),
      focused: isFocused(blockView),
      selected: factValue(blockView, "selection"),
      withheld: isWithheld(blockView),
      ttl: ttl === null ? null : Math.max(0, ttl.at - turn),
      lastUsedTurn: factValue(blockView, "reference").turn,
      state: lifecycleOf(blockView),
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

/** The size of the rendition that is shown; without one, or for a placeholder, the original size. */
function tokensOf(attributes: BlockAttributes, shown: Shown): Tokens | null {
  const rendition = shown === "placeholder" || shown === "absent" ? undefined : attributes.renditions[shown];
  return rendition?.tokens ?? attributes.tokens;
}

/** A new answer counts for the window at once, although the ledger only shows it with the next request. */
function isCounted(
  blockView: BlockView,
  { shown, sentSeq }: { readonly shown: Shown; readonly sentSeq: number },
): boolean {
  if (shown === "placeholder") return false;
  if (shown !== "absent") return true;
  const isNew = blockView.block.addedSeq > sentSeq && blockView.block.stream === blockView.view.stream;
  return isNew && factValue(blockView, "archive") === null && !isWithheld(blockView);
}

function originOf({ kind, taint }: Pick<AddedBlock, "kind" | "taint">): BlockOrigin {
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

/** Finds the exchange that first showed a block, in this view or in the views it was forked from. */
function firstRequests(moment: Moment, view: View): (block: AddedBlock) => number | null {
  const chain: { readonly view: View; readonly seq: number; readonly sent: ReadonlyMap<number, number> }[] =
    [];
  for (let [ancestor, seq] = [view as View | null, moment.seq as number]; ancestor !== null; ) {
    const sent = new Map([...ancestor.sent.entries()].map(([, turn]) => [turn.seq as number, turn.exchange]));
    chain.push({ view: ancestor, seq, sent });
    seq = Math.min(seq, ancestor.parent?.seq ?? seq);
    ancestor = ancestor.parent === null ? null : viewOf(moment, ancestor.parent.view);
  }
  // The oldest view comes first: a fork inherits what its parent was shown.
  chain.reverse();
  return ({ id }) => {
    for (const { view: ancestor, seq, sent } of chain) {
      const first = oldestSeq(ancestor.shown.get(id));
      if (first !== null && first <= seq) return sent.get(first) ?? null;
    }
    return null;
  };
}

function oldestSeq(newest: VersionChain | undefined): number | null {
  let version = newest ?? null;
  while (version !== null && version.previous !== null) version = version.previous;
  return version?.seq ?? null;
}
