import { ok, type Result } from "../base/index.ts";
import type { CommandResult } from "../exchange/index.ts";
import type { Durability } from "../log/index.ts";
import type { ImportResult } from "../recorder/index.ts";
import type { BackupReport, GcReport, VerifyReport } from "../store/index.ts";
import type {
  ApprovalsPage,
  CommandAnswer,
  DecideAnswer,
  DeleteAnswer,
  ModeAnswer,
  PermissionRow,
  PermissionsAnswer,
  RenameAnswer,
  ReverseAnswer,
  SelectAnswer,
} from "./act-answers.ts";
import type { Act, ActDeps, RuleQuery } from "./acts.ts";
import { decideApprovals } from "./decide-approvals.ts";
import { approvalsPage } from "./list-approvals.ts";
import { noPermissions } from "./permission-store.ts";
import { reverseSteps } from "./reverse-steps.ts";
import { selectBlocks } from "./select-blocks.ts";
import {
  deleteSession,
  importSession,
  renameSession,
  sessionModeAnswer,
  setSessionMode,
} from "./session-acts.ts";
import { executeUserCommand } from "./user-command.ts";

/** The type of the answer to each type of act, and to queries about the user's rules. */
export type ActAnswers = {
  readonly act: CommandAnswer & Durability;
  readonly command: readonly CommandResult[];
  readonly select: SelectAnswer & Durability;
  readonly reverse: ReverseAnswer & Durability;
  readonly approvals: ApprovalsPage;
  readonly decide: DecideAnswer & Durability;
  readonly mode: ModeAnswer;
  readonly "set-mode": ModeAnswer & Durability;
  readonly permissions: PermissionsAnswer;
  readonly "set-permission": PermissionsAnswer;
  readonly rename: RenameAnswer & Durability;
  readonly "delete-session": DeleteAnswer;
  readonly verify: VerifyReport;
  readonly gc: GcReport;
  readonly backup: BackupReport;
  readonly import: ImportResult;
};

type ActTable = {
  readonly [T in (Act | RuleQuery)["type"]]: (
    deps: ActDeps,
    act: Extract<Act | RuleQuery, { readonly type: T }>,
  ) => Promise<Result<ActAnswers[T]>>;
};

/** Performs each type of act, and answers queries about the user's rules. */
export const actTable: ActTable = {
  act: (deps, act) => executeUserCommand(deps, act),
  command: (deps, act) => deps.executeCalls(act),
  select: (deps, act) => selectBlocks(deps, act),
  reverse: (deps, act) => reverseSteps(deps, act),
  approvals: (deps, query) => approvalsPage(deps, query),
  decide: (deps, act) => decideApprovals(deps, act),
  mode: (deps, { session }) => sessionModeAnswer(deps, session),
  "set-mode": (deps, act) => setSessionMode(deps, act),
  permissions: async ({ permissions = noPermissions }) => permissionsAnswer(permissions.list()),
  "set-permission": async ({ permissions = noPermissions }, { verb, zone, rule }) =>
    permissionsAnswer(permissions.set({ key: { actor: "model", verb, zone }, rule })),
  rename: (deps, act) => renameSession(deps, act),
  "delete-session": (deps, act) => deleteSession(deps, act),
  verify: ({ store }, { scope }) => store.verify(scope),
  gc: async ({ store }) => {
    // Nothing on disk refers yet to contents that wait to be written; the collector would delete them.
    await store.flush();
    return await store.gc();
  },
  backup: async ({ store }, { path }) => {
    await store.flush();
    return await store.backup(path);
  },
  import: (deps, { bytes }) => importSession(deps, bytes),
};

function permissionsAnswer(rows: Result<readonly PermissionRow[]>): Result<PermissionsAnswer> {
  return rows.ok ? ok({ rows: rows.value }) : rows;
}
