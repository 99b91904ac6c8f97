import type { Verb } from "../../commands/index.ts";
import type {
  Actor,
  ApprovalStand,
  BlockKind,
  FactName,
  Permission,
  Mode as SetMode,
  Zone,
} from "../../engine/index.ts";
import type { Mode } from "./act-rows.ts";
import type { SkippedRow } from "./told-rows.ts";

/** What readers are told of commands, of what waits for the user, and of modes. Plain data, as in rows.ts. */

/** A value that somebody else has set, and that the command sets anew. */
export type ConflictRow = { readonly block: number; readonly fact: FactName; readonly by: Actor };

/** What a rewrite would come to if it were made for this command alone. All in tokens, an estimate. */
export type CutRow = {
  /** The first block that would be shown otherwise. */
  readonly block: number;
  /** Before it: stays as it is. */
  readonly kept: number;
  /** Behind it, sent anew. */
  readonly rewritten: number;
  readonly freed: number;
};

/** What a command came to, or would come to. */
export type CommandAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly stream: number;
  readonly turn: number;
  readonly mode: Mode;
  readonly model: string | null;
  readonly dryRun: boolean;
  readonly verb: string;
  /** As it was understood. */
  readonly command: string;
  /** Null where nothing was done that can be undone. */
  readonly step: number | null;
  /** Blocks it changed, or would. */
  readonly blocks: readonly number[];
  /** In words: what was done, what was left alone and why, and what was read. */
  readonly text: string;
  readonly skipped: readonly SkippedRow[];
  /** Those of them that somebody's word keeps as they are. */
  readonly locks: readonly number[];
  readonly conflicts: readonly ConflictRow[];
  /** Tokens less, now or at the next rewrite. */
  readonly freed: number;
  /** Blocks whose size afterwards nobody knows yet: they are not in what is freed. */
  readonly unsized: readonly number[];
  /** Blocks that are sent as before all the same: the model's own words. */
  readonly stays: readonly number[];
  /** Null where nothing that is shown now would be shown otherwise. */
  readonly cut: CutRow | null;
};

export type ApprovalRow = {
  readonly approval: number;
  readonly stream: number;
  /** Who wants it. */
  readonly actor: Actor;
  readonly verb: string;
  /** As it was written, without the text it brings along. */
  readonly command: string;
  /** What it brings along; null: nothing, or it cannot be read. */
  readonly text: string | null;
  readonly blocks: readonly number[];
  /** Why it was not simply done. */
  readonly why: string;
  /** About how many it is about. */
  readonly tokens: number;
  readonly cut: CutRow | null;
  /** The words that led to it, of content nobody vouches for or of the model itself; null: none. */
  readonly source: { readonly block: number; readonly kind: BlockKind; readonly text: string } | null;
  readonly stand: ApprovalStand;
  readonly by: Actor;
  /** What was said with the decision. */
  readonly reason: string;
  readonly turn: number;
  /** Turns for which it still waits; 0 once it is decided. */
  readonly turnsLeft: number;
  readonly seq: number;
};
export type ApprovalsPage = {
  readonly session: string;
  readonly seq: number;
  readonly model: string | null;
  readonly mode: Mode;
  /** How many wait. */
  readonly waiting: number;
  /** The oldest first. */
  readonly rows: readonly ApprovalRow[];
};

/** How long the user's yes or no holds for more than the command it is about. */
export const decisionScopes = ["once", "turn", "session", "always"] as const;
export type DecisionScope = (typeof decisionScopes)[number];

export type DecideAnswer = {
  readonly session: string;
  readonly seq: number;
  /** Each as it stands now, and what carrying it out came to in words; null where it was denied. */
  readonly rows: readonly (ApprovalRow & { readonly outcome: string | null; readonly step: number | null })[];
};

/** What the user has said for always about a verb of an actor, for blocks of one zone or of all. */
export type PermissionRow = {
  readonly actor: Actor;
  readonly verb: Verb | "all";
  readonly zone: Zone | "all";
  readonly rule: Permission["rule"];
  /** When it was said, in milliseconds since 1970. */
  readonly since: number;
};
export type PermissionsAnswer = { readonly rows: readonly PermissionRow[] };

export type ModeAnswer = {
  readonly session: string;
  readonly seq: number;
  /** What the user said for this session; null: as it is configured. */
  readonly mode: SetMode | null;
};
