import { type BlockId, sha256Hex } from "../base/index.ts";
import type { Command, Verb } from "./command.ts";

/** What a model may do in a turn, and how often it may change its mind. Shares are of the window. */
export const turnLimits = {
  commandsMax: 20,
  changedShare: 0.3,
  pinnedShare: 0.25,
  memoryShare: 0.02,
  notesMax: 5,
  /** So many turns back count for damping. */
  dampingTurns: 10,
  /** Pinning and unpinning a block so often is enough; so is updating it, or going back and forth. */
  pinChangesMax: 3,
  updatesMax: 3,
  switchesMax: 3,
  /** After so many failures in a row the model is reminded how commands work, once. */
  failuresMax: 3,
} as const;

/** One command that was done, as far as damping needs it. */
export type Act = {
  readonly turn: number;
  readonly verb: Verb;
  readonly blocks: readonly BlockId[];
  readonly note: string | null;
};

/** What a model has done of late. A value: whoever keeps it keeps the one that comes back. */
export type Acts = {
  readonly turn: number;
  readonly commands: number;
  readonly changedTokens: number;
  readonly failures: number;
  readonly recent: readonly Act[];
};

export const noActs: Acts = { turn: 0, commands: 0, changedTokens: 0, failures: 0, recent: [] };

/** A block and the tokens it takes now. */
export type Sized = { readonly block: BlockId; readonly tokens: number };

/** What a command would come to. Pins and memories are counted as they would be afterwards. */
export type Load = {
  readonly turn: number;
  readonly command: Command;
  readonly changed: readonly Sized[];
  readonly pinnedTokens: number;
  readonly memoryTokens: number;
  readonly windowTokens: number;
};

const actsMax = 200;
const blocksPerActMax = 200;

/** Whether a turn has had its commands. Failures count, so that trying again comes to an end. */
export function commandsExcess(acts: Acts, turn: number): string | null {
  const { commands } = inTurn(acts, turn);
  return commands < turnLimits.commandsMax
    ? null
    : `${turnLimits.commandsMax} commands were used in this turn; go on with the task, the next turn allows more`;
}

/** Why a command goes too far, in words a model can act on; null if it does not. */
export function excessOf(acts: Acts, load: Load): string | null {
  return changeExcess(acts, load) ?? sizeExcess(load) ?? noteExcess(acts, load);
}

/** A block nobody has counted costs nothing here; what is too much names a beginning that is not. */
function changeExcess(acts: Acts, load: Load): string | null {
  const left = Math.max(0, share(load, turnLimits.changedShare) - inTurn(acts, load.turn).changedTokens);
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

function tokensOf(sizes: readonly Sized[]): number {
  return sizes.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Blocks that were changed to and fro, each with the reason to leave it alone now. */
export function dampedBlocks(
  acts: Acts,
  { turn, verb, blocks }: Omit<Act, "note">,
): ReadonlyMap<BlockId, string> {
  const recent = acts.recent.filter((act) => turn - act.turn < turnLimits.dampingTurns);
  const damped = new Map<BlockId, string>();
  const rule = dampingRules[verb];
  if (rule === undefined) return damped;
  const history = historyOf(recent, new Set(blocks));
  for (const block of blocks) {
    const why = rule(history.get(block) ?? []);
    if (why !== null)
      damped.set(block, `${why} within ${turnLimits.dampingTurns} turns; leave it as it is for now`);
  }
  return damped;
}

/** After a command that was done, on these blocks. */
export function withAct(acts: Acts, load: Load, blocks: readonly BlockId[]): Acts {
  const { turn, command } = load;
  const present = inTurn(acts, turn);
  const act = { turn, verb: command.verb, blocks: blocks.slice(0, blocksPerActMax), note: noteOf(command) };
  return {
    turn,
    commands: present.commands + 1,
    changedTokens: present.changedTokens + tokensOf(load.changed),
    failures: 0,
    recent: [...acts.recent.filter((each) => turn - each.turn < turnLimits.dampingTurns), act].slice(
      -actsMax,
    ),
  };
}

export type Failed = { readonly acts: Acts; readonly reminder: string | null };

/** After a command that failed. */
export function withFailure(acts: Acts, turn: number): Failed {
  const present = inTurn(acts, turn);
  const failures = acts.failures + 1;
  const next = { ...present, commands: present.commands + 1, failures };
  return { acts: next, reminder: failures === turnLimits.failuresMax ? reminder : null };
}

const reminder =
  "Three commands in a row failed. Use ids as they stand in headers and the manifest, such as block-27 or " +
  "message-12, or go on without: no command is needed to answer.";

function inTurn(acts: Acts, turn: number): Acts {
  return acts.turn === turn ? acts : { ...acts, turn, commands: 0, changedTokens: 0 };
}

function share({ windowTokens }: Load, part: number): number {
  return Math.floor(windowTokens * part);
}

function sizeExcess(load: Load): string | null {
  const { command, pinnedTokens, memoryTokens } = load;
  const pinMax = share(load, turnLimits.pinnedShare);
  if (command.verb === "pin" && pinnedTokens > pinMax) {
    return `pins would take ${pinnedTokens} tokens and may take ${pinMax}; unpin something first`;
  }
  const memoryMax = share(load, turnLimits.memoryShare);
  if (noteOf(command) !== null && memoryTokens > memoryMax) {
    const room = `${memoryTokens} tokens and may take ${memoryMax}`;
    return `notes would take ${room}; shorten this one, or archive an older one`;
  }
  return null;
}

function noteExcess(acts: Acts, { turn, command }: Load): string | null {
  const note = noteOf(command);
  if (note === null) return null;
  const same = acts.recent.find((act) => act.note === note && turn - act.turn < turnLimits.dampingTurns);
  if (same !== undefined) return `the same note was made at turn ${same.turn}; it is kept`;
  const made = acts.recent.filter((act) => act.note !== null && act.turn === turn).length;
  return made < turnLimits.notesMax
    ? null
    : `${made} notes were made in this turn; put what is left into one note in a later turn`;
}

/** Notes that differ only in blanks and capitals are one. */
function noteOf(command: Command): string | null {
  if (command.verb !== "create" && command.verb !== "update") return null;
  const about = command.verb === "update" ? `${command.block}` : "";
  return sha256Hex(`${about} ${command.text.trim().toLowerCase().replace(/\s+/g, " ")}`);
}

type Damping = (history: readonly Verb[]) => string | null;

const dampingRules: Readonly<Partial<Record<Verb, Damping>>> = {
  pin: pinChurn,
  unpin: pinChurn,
  compress: toAndFro,
  update: (history) => {
    const updates = history.filter((verb) => verb === "update").length;
    return updates < turnLimits.updatesMax ? null : `it was updated ${updates} times`;
  },
};

function pinChurn(history: readonly Verb[]): string | null {
  const changes = history.filter((verb) => verb === "pin" || verb === "unpin").length;
  return changes < turnLimits.pinChangesMax ? null : `it was pinned and unpinned ${changes} times`;
}

/** Only compressing is refused: whoever needs a text must be able to read it. */
function toAndFro(history: readonly Verb[]): string | null {
  const moves = history.filter((verb) => verb === "expand" || verb === "compress");
  const switches = moves.filter((verb, at) => at > 0 && verb !== moves[at - 1]).length;
  return switches < turnLimits.switchesMax
    ? null
    : `it was compressed and expanded by turns ${switches} times`;
}

function historyOf(
  recent: readonly Act[],
  wanted: ReadonlySet<BlockId>,
): ReadonlyMap<BlockId, readonly Verb[]> {
  const history = new Map<BlockId, Verb[]>();
  for (const { verb, blocks } of recent) {
    for (const block of blocks) {
      if (wanted.has(block)) history.set(block, [...(history.get(block) ?? []), verb]);
    }
  }
  return history;
}
