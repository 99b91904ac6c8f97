import { type BlockId, sha256Hex } from "../base/index.ts";
import type { Command, Verb } from "./command.ts";

/** Limits on a model's commands in a turn, and on changing its mind. Shares are of the window. */
export const turnLimits = {
  commandsMax: 20,
  changedShare: 0.3,
  pinnedShare: 0.25,
  memoryShare: 0.02,
  memoriesMax: 5,
  /** Damping looks back this many turns. */
  dampingTurns: 10,
  /** So often may a block be pinned or unpinned, updated, or switched between compressed and expanded. */
  pinChangesMax: 3,
  updatesMax: 3,
  switchesMax: 3,
  /** After this many failures in a row the model is reminded once how commands work. */
  failuresMax: 3,
} as const;

/** The facts about a command that was carried out, for damping. */
export type PastCommand = {
  readonly turn: number;
  readonly verb: Verb;
  readonly blocks: readonly BlockId[];
  /** Hash of the text it remembered; null if the command made no memory. */
  readonly memoryHash: string | null;
};

/** The recent commands of a model. It is immutable: the caller keeps the history that a function returns. */
export type CommandHistory = {
  readonly turn: number;
  readonly commands: number;
  readonly changedTokens: number;
  readonly failures: number;
  readonly recent: readonly PastCommand[];
};

export const noCommands: CommandHistory = { turn: 0, commands: 0, changedTokens: 0, failures: 0, recent: [] };

/** The tokens a block takes now. */
export type BlockSize = { readonly block: BlockId; readonly tokens: number };

/** The size of a command's effect. Pins and memories are counted as they would be afterwards. */
export type CommandLoad = {
  readonly turn: number;
  readonly command: Command;
  readonly changed: readonly BlockSize[];
  readonly pinnedTokens: number;
  readonly memoryTokens: number;
  readonly windowTokens: number;
};

const recentMax = 200;
const blocksPerCommandMax = 200;

/** The refusal if a turn has used up its commands. Failures count, so that retries come to an end. */
export function commandsExcess(history: CommandHistory, turn: number): string | null {
  const { commands } = inTurn(history, turn);
  return commands < turnLimits.commandsMax
    ? null
    : `${turnLimits.commandsMax} commands were used in this turn; go on with the task, the next turn allows more`;
}

/** Says why a command goes too far, in words a model can act on; null if it does not. */
export function loadExcess(history: CommandHistory, load: CommandLoad): string | null {
  return changeExcess(history, load) ?? sizeExcess(load) ?? memoryExcess(history, load);
}

/** An uncounted block costs nothing here. The refusal names the first blocks that would still fit. */
function changeExcess(history: CommandHistory, load: CommandLoad): string | null {
  const left = Math.max(0, share(load, turnLimits.changedShare) - inTurn(history, load.turn).changedTokens);
  const wanted = tokensOf(load.changed);
  if (wanted <= left) return null;
  let [sum, count] = [0, 0];
  for (const { tokens } of load.changed) {
    sum += tokens;
    if (sum > left) break;
    count += 1;
  }
  const [first, last] = [load.changed[0]?.block, load.changed[count - 1]?.block];
  const example = last === undefined ? "" : `, such as block-${first}..block-${last}`;
  return `it would change ${wanted} tokens and ${left} are left in this turn; choose fewer blocks${example}`;
}

function tokensOf(sizes: readonly BlockSize[]): number {
  return sizes.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The blocks that were changed back and forth, each with the reason to leave it alone now. */
export function dampedBlocks(
  history: CommandHistory,
  { turn, verb, blocks }: Omit<PastCommand, "memoryHash">,
): ReadonlyMap<BlockId, string> {
  const recent = history.recent.filter((past) => turn - past.turn < turnLimits.dampingTurns);
  const damped = new Map<BlockId, string>();
  const rule = dampingRules[verb];
  if (rule === undefined) return damped;
  const verbsByBlock = pastVerbs(recent, new Set(blocks));
  for (const block of blocks) {
    const reason = rule(verbsByBlock.get(block) ?? []);
    if (reason !== null)
      damped.set(block, `${reason} within ${turnLimits.dampingTurns} turns; leave it as it is for now`);
  }
  return damped;
}

/** The history after a command that was carried out on these blocks. */
export function withCommand(
  history: CommandHistory,
  load: CommandLoad,
  blocks: readonly BlockId[],
): CommandHistory {
  const { turn, command } = load;
  const present = inTurn(history, turn);
  const done: PastCommand = {
    turn,
    verb: command.verb,
    blocks: blocks.slice(0, blocksPerCommandMax),
    memoryHash: memoryHashOf(command),
  };
  return {
    turn,
    commands: present.commands + 1,
    changedTokens: present.changedTokens + tokensOf(load.changed),
    failures: 0,
    recent: [...history.recent.filter((each) => turn - each.turn < turnLimits.dampingTurns), done].slice(
      -recentMax,
    ),
  };
}

export type FailureResult = { readonly history: CommandHistory; readonly reminder: string | null };

/** The history after a command that failed. */
export function withFailure(history: CommandHistory, turn: number): FailureResult {
  const present = inTurn(history, turn);
  const failures = history.failures + 1;
  const next = { ...present, commands: present.commands + 1, failures };
  return { history: next, reminder: failures === turnLimits.failuresMax ? reminder : null };
}

const reminder =
  "Three commands in a row failed. Use ids as they stand in headers and the manifest, such as block-27 or " +
  "message-12, or go on without: no command is needed to answer.";

function inTurn(history: CommandHistory, turn: number): CommandHistory {
  return history.turn === turn ? history : { ...history, turn, commands: 0, changedTokens: 0 };
}

function share({ windowTokens }: CommandLoad, part: number): number {
  return Math.floor(windowTokens * part);
}

function sizeExcess(load: CommandLoad): string | null {
  const { command, pinnedTokens, memoryTokens } = load;
  const pinMax = share(load, turnLimits.pinnedShare);
  if (command.verb === "pin" && pinnedTokens > pinMax) {
    return `pins would take ${pinnedTokens} tokens and may take ${pinMax}; unpin something first`;
  }
  const memoryMax = share(load, turnLimits.memoryShare);
  if (memoryHashOf(command) !== null && memoryTokens > memoryMax) {
    const room = `${memoryTokens} tokens and may take ${memoryMax}`;
    return `notes would take ${room}; shorten this one, or archive an older one`;
  }
  return null;
}

function memoryExcess(history: CommandHistory, { turn, command }: CommandLoad): string | null {
  const hash = memoryHashOf(command);
  if (hash === null) return null;
  const same = history.recent.find(
    (past) => past.memoryHash === hash && turn - past.turn < turnLimits.dampingTurns,
  );
  if (same !== undefined) return `the same note was made at turn ${same.turn}; it is kept`;
  const made = history.recent.filter((past) => past.memoryHash !== null && past.turn === turn).length;
  return made < turnLimits.memoriesMax
    ? null
    : `${made} notes were made in this turn; put what is left into one note in a later turn`;
}

/** Texts that differ only in blanks and capitals are the same memory. */
function memoryHashOf(command: Command): string | null {
  if (command.verb !== "create" && command.verb !== "update") return null;
  const about = command.verb === "update" ? `${command.block}` : "";
  return sha256Hex(`${about} ${command.text.trim().toLowerCase().replace(/\s+/g, " ")}`);
}

type DampingRule = (history: readonly Verb[]) => string | null;

const dampingRules: Readonly<Partial<Record<Verb, DampingRule>>> = {
  pin: pinChurn,
  unpin: pinChurn,
  compress: compressChurn,
  update: (history) => {
    const updates = history.filter((verb) => verb === "update").length;
    return updates < turnLimits.updatesMax ? null : `it was updated ${updates} times`;
  },
};

function pinChurn(history: readonly Verb[]): string | null {
  const changes = history.filter((verb) => verb === "pin" || verb === "unpin").length;
  return changes < turnLimits.pinChangesMax ? null : `it was pinned and unpinned ${changes} times`;
}

/** Only compressing is refused: a model that needs a text must be able to read it. */
function compressChurn(history: readonly Verb[]): string | null {
  const moves = history.filter((verb) => verb === "expand" || verb === "compress");
  const switches = moves.filter((verb, at) => at > 0 && verb !== moves[at - 1]).length;
  return switches < turnLimits.switchesMax
    ? null
    : `it was compressed and expanded by turns ${switches} times`;
}

function pastVerbs(
  recent: readonly PastCommand[],
  wanted: ReadonlySet<BlockId>,
): ReadonlyMap<BlockId, readonly Verb[]> {
  const verbsByBlock = new Map<BlockId, Verb[]>();
  for (const { verb, blocks } of recent) {
    for (const block of blocks) {
      if (wanted.has(block)) verbsByBlock.set(block, [...(verbsByBlock.get(block) ?? []), verb]);
    }
  }
  return verbsByBlock;
}
