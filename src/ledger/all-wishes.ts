import { PagedTable } from "../base/index.ts";
import type { LevelWish, Wishes } from "../exchange/index.ts";
import type { LevelWishes } from "./level-wishes.ts";
import type { WithheldContent } from "./withheld.ts";

/**
 * Everything that log and user want of the next request. The log sends `Wishes` with the levels that changed;
 * this value has all levels. It never changes: an update makes another one.
 */
export type AllWishes = {
  /** The log's last wishes. Null until it has reported the stream. */
  readonly latest: Wishes | null;
  /** How blocks are shown from the next rewrite on. */
  readonly levels: LevelWishes;
  /** Blocks that are never shortened, because they are pinned or selected. */
  readonly held: ReadonlySet<number>;
  /** Content that must not be sent. */
  readonly withheld: WithheldContent;
  /** Counts the updates, so that a stream knows which of them it has considered. */
  readonly version: number;
  /** The version in which levels were last wished. */
  readonly levelsVersion: number;
  /** The version in which the user last wanted them applied at once. */
  readonly urgentVersion: number;
};

export function noWishes(withheld: WithheldContent = new Map()): AllWishes {
  const levels = PagedTable.empty<LevelWish>();
  const versions = { version: 0, levelsVersion: 0, urgentVersion: 0 };
  return { latest: null, levels, held: new Set(), withheld, ...versions };
}

/** `withheld` is all content that must not be sent from now on. */
export function updateWishes(before: AllWishes, latest: Wishes, withheld: WithheldContent): AllWishes {
  const version = before.version + 1;
  return {
    latest,
    levels: before.levels.withAll(latest.levels.map((wish) => [wish.block, wish])),
    held: new Set(latest.held),
    withheld,
    version,
    levelsVersion: latest.levels.length > 0 ? version : before.levelsVersion,
    urgentVersion: latest.isUrgent === true ? version : before.urgentVersion,
  };
}
