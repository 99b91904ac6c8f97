import type { BlockId, ContentHash, Turn, ViewId } from "../../base/index.ts";
import type { Tokens } from "./block.ts";
import type { Actor } from "./facts.ts";

/**
 * A command that waits for the user. The text of a memory is not part of the printed command but a content
 * like any other, so a purge reaches it, and the block it becomes has the same hash.
 */
export type Approval = {
  /** From 1, without gaps, in the session. */
  readonly id: number;
  readonly view: ViewId;
  /** The actor that gave the command. */
  readonly actor: Actor;
  readonly verb: string;
  /** The printed command, without the text of a memory. */
  readonly command: string;
  readonly text: ContentHash | null;
  readonly blocks: readonly BlockId[];
  /** Why it was not carried out at once, for people. */
  readonly why: string;
  /** Tokens of the blocks it is about, or of the text of a memory. */
  readonly tokens: Tokens;
  readonly source: BlockSpan | null;
  readonly turn: Turn;
  /** The last turn in which it waits. */
  readonly until: Turn;
};

/**
 * The part of a block that led to an approval: the untrusted text that makes us ask, else what the model said
 * with its command. The log names the text and does not repeat it: purged text must not live on in the log.
 */
export type BlockSpan = { readonly block: BlockId; readonly start: number; readonly length: number };

export const approvalStatuses = ["waiting", "approved", "denied", "expired"] as const;
export type ApprovalStatus = (typeof approvalStatuses)[number];

/** The status of an approval, the actor that set it, and the reason given. */
export type ApprovalDecision = {
  readonly stand: ApprovalStatus;
  readonly by: Actor;
  readonly reason: string;
};

/** Turns an approval waits before it expires. */
export const approvalTurns = 20;

export const permissionRules = ["allow", "ask", "deny"] as const;
export const permissionScopes = ["once", "turn", "session"] as const;

/**
 * A rule the user set for a verb of an actor, for a while. A rule that always holds belongs to no session and
 * is kept outside the logs.
 */
export type Permission = {
  readonly rule: (typeof permissionRules)[number];
  readonly scope: (typeof permissionScopes)[number];
  /** The last turn in which it holds. Null if no turn ends it. */
  readonly until: Turn | null;
};
/** The actor and the verb a permission is about. */
export type PermissionKey = { readonly actor: Actor; readonly verb: string };

export const modes = ["observe", "ask", "auto"] as const;
/**
 * Observe: nothing is changed; ask: commands wait for the user; auto: reversible commands are carried out.
 */
export type Mode = (typeof modes)[number];
