import type { Result, SessionId, StepId } from "../base/index.ts";
import type { Mode } from "../engine/frames/index.ts";
import type { ChangeContext, Proposal, State } from "../engine/index.ts";
import type { CommandBatch, CommandResult, StreamLookup, StreamRecord } from "../exchange/index.ts";
import type { Durability, ReverseVerb } from "../log/index.ts";
import type { QueryDeps } from "../queries/index.ts";
import type { LiveSession } from "../recorder/index.ts";
import type { DropReport } from "../store/index.ts";
import type { DecisionScope, PermissionRow } from "./act-answers.ts";
import type { PermissionStore } from "./permission-store.ts";
import type { CommandSource } from "./user-only-command.ts";

/** A change by a user or a model. It is appended to the log, and the model reads about it. */
export type Act =
  | SelectAct
  | ReverseAct
  | CommandBatchAct
  | UserCommandAct
  | DecideAct
  | SetModeAct
  | RenameAct
  | DeleteAct
  | PermitAct
  | MaintenanceAct;

/** A query about the user's rules: approvals, the mode of a session, lasting permissions. */
export type RuleQuery =
  | { readonly type: "approvals"; readonly session: string; readonly stream?: number; readonly all?: boolean }
  | { readonly type: "mode"; readonly session: string }
  | { readonly type: "permissions" };

/** Maintenance of the whole store: check it, drop unreferenced contents, back it up, import into it. */
export type MaintenanceAct =
  | { readonly type: "verify"; readonly scope: "tail" | "all" }
  | { readonly type: "gc" }
  | { readonly type: "backup"; readonly path: string }
  /** A session from a transcript, as JSON: `gathered`, and `secrets` that must not be stored. */
  | { readonly type: "import"; readonly bytes: Uint8Array };

/** A command of the user; a dry run only reports what it would do. */
export type UserCommandAct = {
  readonly type: "act";
  readonly session: string;
  readonly stream?: number;
  readonly command: CommandSource;
  readonly dryRun: boolean;
  /** Now: rewrite with the next request, at any cost. Otherwise the change waits until it is cheap. */
  readonly when?: RewriteTime;
};

export const rewriteTimes = ["now", "cache-break"] as const;

export type RewriteTime = (typeof rewriteTimes)[number];

/** The user approves or denies commands that wait. Deciding one twice is refused. */
export type DecideAct = {
  readonly type: "decide";
  readonly session: string;
  /** One approval, or all that wait. */
  readonly approval: number | "all";
  readonly to: "approved" | "denied";
  /** The model reads it if the command is denied. */
  readonly reason: string;
  readonly scope: DecisionScope;
};

/** Sets the mode of a session; null for the configured one. It is idempotent. */
export type SetModeAct = {
  readonly type: "set-mode";
  readonly session: string;
  readonly mode: Mode | null;
};

/** Names a session; null for a name from its first prompt. It is idempotent. */
export type RenameAct = { readonly type: "rename"; readonly session: string; readonly name: string | null };

/** Erases a session. `confirm` is its id, so that no session is erased by mistake. */
export type DeleteAct = {
  readonly type: "delete-session";
  readonly session: string;
  readonly confirm: string;
};

/** Sets a lasting permission for a verb of the model; a null rule removes it. It is idempotent. */
export type PermitAct = Pick<PermissionRow, "verb" | "zone"> & {
  readonly type: "set-permission";
  readonly rule: PermissionRow["rule"] | null;
};

/** The calls of our tools in the answer to a request. */
export type CommandBatchAct = CommandBatch & { readonly type: "command" };

/** Undoes or redoes steps. Doing so twice for the same step is refused. */
export type ReverseAct = {
  readonly type: "reverse";
  readonly session: string;
  readonly verb: ReverseVerb;
  /** Without it, the last step that is done, or for redo the step that was undone last. */
  readonly step?: number;
  /** All steps of the last turn that has any, the newest first, until one cannot be undone. */
  readonly isTurn?: true;
  /** All steps whose state differs from this seq, the last change first, until one cannot be reversed. */
  readonly to?: number;
};

/** Makes the selection exactly these blocks; an empty list clears it. It is idempotent. */
export type SelectAct = {
  readonly type: "select";
  readonly session: string;
  readonly stream?: number;
  readonly blocks: readonly number[];
};

export type ActDeps = QueryDeps & {
  /** Drops the cached session, because an import has written to it; it is read again at its next use. */
  readonly forgetSession?: (session: SessionId) => void;
  /** Erases a session for good; absent if this host never erases. */
  readonly removeSession?: (session: SessionId) => Promise<Result<DropReport>>;
  /** The configured mode; auto if absent. */
  readonly mode?: Mode;
  /** Tells the planner what is withheld in a session now, without waiting for the log. */
  readonly publishWithheld?: (state: State) => Promise<void>;
  /** The user's lasting permissions; absent if there are none. */
  readonly permissions?: PermissionStore;
  readonly streamRecord: (lookup: StreamLookup) => Promise<Result<StreamRecord | null>>;
  /** Executes the calls of our tools in an answer. */
  readonly executeCalls: (batch: CommandBatch) => Promise<Result<readonly CommandResult[]>>;
  /** Runs work in a live session, in order with recording, and publishes the changes. */
  readonly inSession: <T extends object>(
    session: SessionId,
    work: (live: LiveSession) => Result<T> | Promise<Result<T>>,
  ) => Promise<Result<T & Durability>>;
  /** Appends a user's proposal to the stream of that name and publishes the changes. */
  readonly act: (
    session: SessionId,
    stream: string,
    propose: (change: ChangeContext) => Proposal,
  ) => Promise<Result<Proposal & Durability>>;
  /** Undoes or redoes a step for the user. */
  readonly reverseStep: (session: SessionId, verb: ReverseVerb, step: StepId) => Promise<Result<Durability>>;
};
