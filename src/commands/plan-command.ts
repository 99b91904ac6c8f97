import type { BlockId } from "../base/index.ts";
import {
  type Actor,
  type Delta,
  type FactDelta,
  type FactName,
  factNames,
  type Shown,
} from "../engine/frames/index.ts";
import type { ChangeContext, Proposal } from "../engine/index.ts";
import { type BlockView, blockViewOf, factOf, factVersion } from "../engine/moment/index.ts";
import type { Command } from "./command.ts";
import { type CommandContext, type CommandProposal, proposeCommand } from "./propose.ts";
import { blocksChangedBy, freedTokens, wantedTokens } from "./sizes.ts";

/** A fact that another actor has set and that the command would change. */
export type FactConflict = { readonly block: BlockId; readonly fact: FactName; readonly by: Actor };

/** The effect of a command, counted before it is carried out. */
export type CommandPlan = {
  readonly proposal: CommandProposal;
  readonly changedTokens: number;
  readonly freedTokens: number;
  /** Blocks whose size at the wanted level is not known yet: `freedTokens` leaves them out. */
  readonly unsized: readonly BlockId[];
  /** Blocks the command cannot touch, because of their kind or because of the actor who set a fact. */
  readonly locks: readonly Proposal["skipped"][number][];
  readonly conflicts: readonly FactConflict[];
};

const lockCodes: readonly string[] = ["AP_CHANGE_LOCKED", "AP_CHANGE_PINNED", "AP_COMMAND_REFUSED"];

/** Proposes a command and counts the proposal. It keeps nothing, not even the history. */
export function planCommand(change: ChangeContext, command: Command, context: CommandContext): CommandPlan {
  return planOfProposal(change, proposeCommand(change, command, context));
}

export function planOfProposal(change: ChangeContext, proposal: CommandProposal): CommandPlan {
  const facts = proposal.deltas.filter(isFactDelta);
  const byBlock = new Map<BlockId, FactDelta[]>(facts.map(({ block }) => [block, []]));
  for (const delta of facts) byBlock.get(delta.block)?.push(delta);
  const changed = blocksChangedBy(change, proposal.deltas);
  const freed = changed.map((blockView) => ({
    block: blockView.block.id,
    tokens: freedTokens(blockView, wantedAfter(blockView, byBlock.get(blockView.block.id) ?? [])),
  }));
  return {
    proposal,
    changedTokens: changed.reduce((sum, blockView) => sum + wantedTokens(blockView), 0),
    freedTokens: freed.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
    unsized: freed.flatMap(({ block, tokens }) => (tokens === null ? [block] : [])),
    locks: proposal.skipped.filter(({ error }) => lockCodes.includes(error.code)),
    conflicts: facts.flatMap((delta) => conflictIn(change, delta)),
  };
}

function isFactDelta(delta: Delta): delta is FactDelta {
  return factNames.some((fact) => delta.type === `${fact}-set`);
}

function wantedAfter(blockView: BlockView, deltas: readonly FactDelta[]): Shown {
  const archive = deltas.find((delta) => delta.type === "archive-set")?.to ?? factOf(blockView, "archive");
  const level = deltas.find((delta) => delta.type === "level-set")?.to ?? factOf(blockView, "level");
  return archive.value === null ? level.value : "placeholder";
}

/** The facts that an actor sets on purpose; references and turns left change by themselves. */
const chosenFacts: readonly FactName[] = ["level", "pin", "focus", "archive"];

function conflictIn(
  { moment, view, actor }: ChangeContext,
  { type, block, from }: FactDelta,
): readonly FactConflict[] {
  const fact = chosenFacts.find((each) => type === `${each}-set`);
  const blockView = fact === undefined ? null : blockViewOf(moment, view, block);
  if (fact === undefined || blockView === null || factVersion(blockView, fact) === null || from.by === actor)
    return [];
  return [{ block, fact, by: from.by }];
}
