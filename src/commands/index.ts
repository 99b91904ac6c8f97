export {
  type Command,
  commandLimits,
  type Detail,
  isReading,
  type LowerLevel,
  noReason,
  type Pointer,
  type Position,
  type Target,
  type Verb,
  verbs,
  zones,
} from "./command.ts";
export type { Note, Reading } from "./effect.ts";
export { parseCommand, parseTarget, printCommand, printTarget } from "./grammar.ts";
export { type Act, type Acts, type Failed, noActs, turnLimits, withFailure } from "./limit.ts";
export type { Lasting, Permission } from "./permission.ts";
export {
  type Asked,
  latestUserMessage,
  type Mode,
  type Permit,
  permitFor,
  permitTable,
  taintedWhy,
} from "./permit.ts";
export { type Conflict, countedPlan, type Plan, planCommand } from "./plan.ts";
export { type CommandContext, type Proposed, proposeCommand, type Waiting } from "./propose.ts";
export { resolveTarget, type Surroundings, topicBlocksMax } from "./resolve.ts";
export { isSpoken, tokensAs } from "./sizes.ts";
export { isTainting, taintEnd } from "./taint.ts";
export {
  type CommandLine,
  commandLineCharsMax,
  commandLines,
  isCommandLine,
  type Sifted,
  TextHold,
  textCallName,
} from "./text-commands.ts";
export { type CommandTool, callOf, commandOf, commandTools, isCommandTool } from "./tools.ts";
