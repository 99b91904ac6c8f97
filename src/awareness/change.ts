import type { Actor } from "../engine/frames/index.ts";

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

/** A change that one actor made to some blocks in one step or frame. */
export type Change = {
  readonly actor: Actor;
  readonly what: ChangeWord;
  readonly blocks: readonly number[];
  /** Tokens freed, now or at the next rewrite; 0 if none. */
  readonly tokens: number;
  readonly reason: string;
  /** The block that supersedes these. */
  readonly by?: number;
  /** The verb, if the change is about a command that waits or waited for the user. */
  readonly verb?: string;
};
