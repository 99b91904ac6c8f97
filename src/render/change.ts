import type { Actor } from "../engine/index.ts";

export const changeWords = [
  "archived",
  "restored",
  "pinned",
  "unpinned",
  "compressed",
  "expanded",
  "focused",
  "selected",
  "deselected",
  "superseded",
  "withheld",
  "released",
  "created",
  "updated",
  "purged",
  "waiting",
  "approved",
  "denied",
  "expired",
] as const;
export type ChangeWord = (typeof changeWords)[number];

/** What one actor did to some blocks, all in one step or one frame. */
export type Change = {
  readonly actor: Actor;
  readonly what: ChangeWord;
  readonly blocks: readonly number[];
  /** Freed, now or at the next rewrite; 0 if none. */
  readonly tokens: number;
  readonly reason: string;
  /** The block that says the same and more. */
  readonly by?: number;
  /** What was asked for, where it is about a command that waits for the user or did. */
  readonly verb?: string;
};
