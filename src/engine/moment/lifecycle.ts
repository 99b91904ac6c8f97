import { must } from "../../base/index.ts";
import type { Level, Shown } from "../frames/block.ts";
import type { Focus, Pin } from "../frames/facts.ts";
import {
  attributesOf,
  type BlockView,
  factValue,
  findInPair,
  runNow,
  shownOf,
  streamOf,
  turnNow,
  wasAnsweredSince,
  wasEverShown,
} from "./moment.ts";

export type Lifecycle = "fresh" | "active" | "referenced" | "stale" | "compressed" | "archived" | "evicted";
export type Zone = "primacy" | "middle" | "recency" | "cold";

/** A block that was not referenced for this many turns is stale. */
export const staleTurns = 5;
/** A focus ends with its run, and after this many turns at the latest. */
export const focusTurnsMax = 20;

/** A name for a combination of facts, derived and never stored. The first name that fits wins. */
export function lifecycleOf(blockView: BlockView): Lifecycle {
  const { moment, view, block } = blockView;
  const shown = shownOf(moment, view, block.id);
  const archived = factValue(blockView, "archive") !== null;
  if (attributesOf(moment, block.id)?.purged) return "evicted";
  if (archived) return shown === "absent" && wasEverShown(moment, view, block.id) ? "evicted" : "archived";
  if (isBelowOriginal(shown)) return "compressed";
  if (!isAnswered(blockView)) return "fresh";
  if (isFocused(blockView)) return "active";
  if (block.kind === "memory") return memoryLifecycle(blockView);
  const reference = factValue(blockView, "reference");
  if (turnOfStream(blockView) - reference.turn >= staleTurns) return "stale";
  return reference.count > 0 ? "referenced" : "active";
}

/** A memory is made to last: it gets stale when another block supersedes it, not with time. */
function memoryLifecycle(blockView: BlockView): Lifecycle {
  if (factValue(blockView, "supersession") !== null) return "stale";
  return factValue(blockView, "reference").count > 0 ? "referenced" : "active";
}

/** The zone a block belongs to. Its text moves there only at a rewrite. */
export function zoneOf(blockView: BlockView): Zone {
  const pin = pinOf(blockView);
  if (factValue(blockView, "archive") !== null) return "cold";
  if (pin !== "none") return pin === "top" ? "primacy" : "recency";
  if (blockView.block.kind === "system" || blockView.block.kind === "memory") return "primacy";
  const recent = isInRun(blockView) || isFocused(blockView) || factValue(blockView, "selection");
  return recent ? "recency" : "middle";
}

/** A pin on one block of a pair protects the whole pair, also blocks that were added later. */
export function isPinned(blockView: BlockView): boolean {
  return pinOf(blockView) !== "none";
}

/** The block's own pin, else the pin of its pair: a call and its result are never apart. */
function pinOf(blockView: BlockView): Pin {
  return findInPair(blockView, "pin", (pin) => pin !== "none") ?? "none";
}

/** Withholding one block withholds its whole pair, also a result that arrives later. */
export function isWithheld(blockView: BlockView): boolean {
  return findInPair(blockView, "withhold", (isWithheldItself) => isWithheldItself) !== null;
}

export function isFocused(blockView: BlockView): boolean {
  const focus: Focus | null = factValue(blockView, "focus");
  if (focus === null) return false;
  const stream = must(streamOf(blockView.moment, blockView.view.stream), "a view has a stream");
  return (
    focus.run === runNow(blockView.moment, stream).run && turnNow(blockView.moment, stream) <= focus.until
  );
}

/** The change that waits for a rewrite: the ledger shows another form than is wanted. Null if both agree. */
export function pendingChange(
  blockView: BlockView,
): { readonly shown: Shown; readonly wanted: Shown } | null {
  const shown = shownOf(blockView.moment, blockView.view, blockView.block.id);
  const wanted = wantedOf(blockView);
  return shown === "absent" || shown === wanted ? null : { shown, wanted };
}

/** The form that is wanted of a block: its level, or a placeholder if it must not or cannot be shown. */
export function wantedOf(blockView: BlockView): Shown {
  const isHidden = factValue(blockView, "archive") !== null || isWithheld(blockView);
  const isPurged = attributesOf(blockView.moment, blockView.block.id)?.purged ?? false;
  return isHidden || isPurged ? "placeholder" : factValue(blockView, "level");
}

function isAnswered({ moment, view, block }: BlockView): boolean {
  return wasAnsweredSince(moment, view, block.addedSeq);
}

function isInRun(blockView: BlockView): boolean {
  const stream = must(streamOf(blockView.moment, blockView.view.stream), "a view has a stream");
  return blockView.block.addedSeq >= runNow(blockView.moment, stream).seq;
}

function turnOfStream(blockView: BlockView): number {
  return turnNow(
    blockView.moment,
    must(streamOf(blockView.moment, blockView.view.stream), "a view has a stream"),
  );
}

function isBelowOriginal(shown: Shown): boolean {
  return shown !== "original" && shown !== "absent";
}

const ladder = {
  original: "trimmed",
  trimmed: "minimal",
  summarized: "minimal",
  minimal: "archive",
} as const;

/** The level an expired ttl lowers a block to. */
export function nextLevelDown(level: Level): Level | "archive" {
  return ladder[level];
}
