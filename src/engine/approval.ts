import type { BlockId, ContentHash, Turn, ViewId } from "../base/index.ts";
import type { Tokens } from "./block.ts";
import type { Actor } from "./facts.ts";

/**
 * A command that waits for the user. What it says is kept apart from what it brings along: a text that is to
 * be remembered is a content like any other, so a purge reaches it, and the block it becomes has the same
 * hash.
 */
export type Approval = {
  /** From 1, without gaps, in the session. */
  readonly id: number;
  readonly view: ViewId;
  /** Who wants it. */
  readonly actor: Actor;
  readonly verb: string;
  /** The printed command, without the text it brings along. */
  readonly command: string;
  readonly text: ContentHash | null;
  readonly blocks: readonly BlockId[];
  /** Why it was not simply done, for people. */
  readonly why: string;
  /** Of the blocks it is about, or of the text it brings along. */
  readonly tokens: Tokens;
  readonly source: Excerpt | null;
  readonly turn: Turn;
  /** The last turn in which it waits. */
  readonly until: Turn;
};

/**
 * Where the words stand that led to it: the untrusted text that makes us ask, else what the model said when
 * it asked. They are named and not repeated: what was purged must not live on in the log.
 */
export type Excerpt = { readonly block: BlockId; readonly start: number; readonly length: number };

export const approvalStands = ["waiting", "approved", "denied", "expired"] as const;
export type ApprovalStand = (typeof approvalStands)[number];

/** Where an approval stands, and who brought it there with which words. */
export type Decided = { readonly stand: ApprovalStand; readonly by: Actor; readonly reason: string };

/** An approval waits for so many turns. */
export const approvalTurns = 20;

export const permissionRules = ["allow", "ask", "deny"] as const;
export const permissionScopes = ["once", "turn", "session"] as const;

/**
 * What the user said about a verb of an actor, for a while. What holds always belongs to no session, and is
 * kept beside the logs.
 */
export type Permission = {
  readonly rule: (typeof permissionRules)[number];
  readonly scope: (typeof permissionScopes)[number];
  /** The last turn in which it holds; null: no turn ends it. */
  readonly until: Turn | null;
};
/** What a permission is about. */
export type PermissionKey = { readonly actor: Actor; readonly verb: string };

export const modes = ["observe", "ask", "auto"] as const;
/** Observe: nothing of ours; ask: commands wait for the user; auto: what can be taken back is done. */
export type Mode = (typeof modes)[number];
