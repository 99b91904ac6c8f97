import type { Verb } from "../commands/index.ts";
import type { Actor, BlockKind, FactName, Mode, Permission } from "../engine/frames/index.ts";
import type { ApprovalState, Zone } from "../engine/moment/index.ts";
import type { ReverseVerb } from "../log/index.ts";
import type { SelectionAnswer, StepRow, StreamMode } from "../queries/answers/index.ts";
import type { DropReport } from "../store/index.ts";

export type RenameAnswer = {
  readonly session: string;
  readonly seq: number;
  /** The name now: the user's, else one made from the first prompt. */
  readonly name: string;
};

/** The counts of what was erased with a session. */
export type DeleteAnswer = DropReport & { readonly session: string };

export type ReverseAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly verb: ReverseVerb;
  /** The step after the reversal; of several, the last one reversed. */
  readonly step: StepRow;
  /** All steps, in the order they were reversed. */
  readonly steps: readonly StepRow[];
  /** The error that stopped the rest from being reversed; null if there was none. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  readonly mode: StreamMode;
  /** Blocks of the steps whose shown form follows with a rewrite. */
  readonly pending: readonly number[];
};

export type SkippedRow = { readonly block: number; readonly code: string; readonly message: string };

export type SelectAnswer = SelectionAnswer & {
  /** Blocks that could not be selected, each with its reason. */
  readonly skipped: readonly SkippedRow[];
};

/** A value that another actor has set and the command overwrites. */
export type ConflictRow = { readonly block: number; readonly fact: FactName; readonly by: Actor };

/** The estimated effect of a rewrite made for this command alone. All in tokens. */
export type CutRow = {
  /** The first block that would be shown differently. */
  readonly block: number;
  /** Tokens before that block, which stay as they are. */
  readonly kept: number;
  /** Tokens from that block on, which are sent anew. */
  readonly rewritten: number;
  readonly freed: number;
};

/** The result of a command, or of its dry run. */
export type CommandAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly stream: number;
  readonly turn: number;
  readonly mode: StreamMode;
  readonly model: string | null;
  readonly dryRun: boolean;
  readonly verb: string;
  /** The command as it was parsed. */
  readonly command: string;
  /** Null if there is nothing to undo. */
  readonly step: number | null;
  /** Blocks it changed, or would change. */
  readonly blocks: readonly number[];
  /** A report for people: what was changed, what was skipped and why, and the texts that were read. */
  readonly text: string;
  readonly skipped: readonly SkippedRow[];
  /** The skipped blocks that a pin or another setting protects. */
  readonly locks: readonly number[];
  readonly conflicts: readonly ConflictRow[];
  /** Tokens freed, now or at the next rewrite. */
  readonly freed: number;
  /** Blocks whose new size is not known yet; `freed` does not include them. */
  readonly unsized: readonly number[];
  /** Changed blocks that are still sent as before, because they are the model's own words. */
  readonly stays: readonly number[];
  /** Null if nothing that is shown now would change. */
  readonly cut: CutRow | null;
};

export type ApprovalRow = {
  readonly approval: number;
  readonly stream: number;
  /** The actor that asked for it. */
  readonly actor: Actor;
  readonly verb: string;
  /** The command as written, without the text it carries. */
  readonly command: string;
  /** The text it carries; null if there is none, or it cannot be read. */
  readonly text: string | null;
  readonly blocks: readonly number[];
  /** The reason why it needs approval. */
  readonly why: string;
  /** Estimated size of its blocks. */
  readonly tokens: number;
  readonly cut: CutRow | null;
  /** The words that led to it, from untrusted content or from the model; null if none were found. */
  readonly source: { readonly block: number; readonly kind: BlockKind; readonly text: string } | null;
  readonly stand: ApprovalState["stand"];
  readonly by: Actor;
  /** The reason given with the decision. */
  readonly reason: string;
  readonly turn: number;
  /** Turns until it expires; 0 once it is decided. */
  readonly turnsLeft: number;
  readonly seq: number;
};

export type ApprovalsPage = {
  readonly session: string;
  readonly seq: number;
  readonly model: string | null;
  readonly mode: StreamMode;
  /** Number of approvals that wait. */
  readonly waiting: number;
  /** The oldest first. */
  readonly rows: readonly ApprovalRow[];
};

/** The span for which a decision also holds for later commands of the same verb. */
export const decisionScopes = ["once", "turn", "session", "always"] as const;

export type DecisionScope = (typeof decisionScopes)[number];

export type DecideAnswer = {
  readonly session: string;
  readonly seq: number;
  /** Each approval after the decision. `outcome`: the report of its command; null if it was denied. */
  readonly rows: readonly (ApprovalRow & { readonly outcome: string | null; readonly step: number | null })[];
};

/** A lasting permission of the user about a verb of an actor, for blocks of one zone or of all. */
export type PermissionRow = {
  readonly actor: Actor;
  readonly verb: Verb | "all";
  readonly zone: Zone | "all";
  readonly rule: Permission["rule"];
  /** The time it was set, in milliseconds since 1970. */
  readonly since: number;
};

export type PermissionsAnswer = { readonly rows: readonly PermissionRow[] };

export type ModeAnswer = {
  readonly session: string;
  readonly seq: number;
  /** The mode the user set for this session; null if the configured mode applies. */
  readonly mode: Mode | null;
};
