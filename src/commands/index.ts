export { type Command, isReadVerb, noReason, type Target, type Verb, verbs, zones } from "./command.ts";
export type { Lookup, NewMemory } from "./effect.ts";
export { parseCommand, parseTarget, printCommand, printTarget } from "./grammar.ts";
export { type CommandHistory, noCommands, withFailure } from "./limit.ts";
export type { CommandPermission } from "./permission.ts";
export { latestUserMessage, taintedReason } from "./permit.ts";
export { type CommandPlan, planCommand, planOfProposal } from "./plan-command.ts";
export type { CommandContext, CommandProposal } from "./propose.ts";
export { resolveTarget } from "./resolve.ts";
export { isModelSpeech, tokensInForm } from "./sizes.ts";
export { isTainting, taintEnd } from "./taint.ts";
export {
  type CommandLine,
  CommandLineFilter,
  commandLines,
  isCommandLine,
  textCallName,
} from "./text-commands.ts";
export { commandFromCall, commandTools, isCommandTool } from "./tools.ts";
