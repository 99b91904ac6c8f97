export {
  type ApprovalRow,
  type ApprovalsPage,
  type CommandAnswer,
  type CutRow,
  type DecideAnswer,
  type DecisionScope,
  type DeleteAnswer,
  decisionScopes,
  type ModeAnswer,
  type PermissionRow,
  type PermissionsAnswer,
  type RenameAnswer,
  type ReverseAnswer,
  type SelectAnswer,
} from "./act-answers.ts";
export {
  type Act,
  type ActDeps,
  type PermitAct,
  type RewriteTime,
  type RuleQuery,
  rewriteTimes,
} from "./acts.ts";
export type { CommandLog } from "./command-log.ts";
export { executeCalls, executeCommand, executeRecordedCalls } from "./execute-command.ts";
export { approvalRow } from "./list-approvals.ts";
export { type ActAnswers, actTable } from "./perform-act.ts";
export { openPermissionFile } from "./permission-store.ts";
export { approvedCommand } from "./request-approval.ts";
