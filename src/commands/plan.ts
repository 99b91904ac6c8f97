import type { BlockId } from "../base/index.ts";
import {
  type Actor,
  type Change,
  type Delta,
  type FactDelta,
  type FactName,
  factNames,
  factOf,
  factVersion,
  type Place,
  placeOf,
  type Shown,
  type Skipped,
} from "../engine/index.ts";
import type { Command } from "./command.ts";
import { type CommandContext, type Proposed, proposeCommand } from "./propose.ts";
import { changedPlaces, freedTokens, tokensWanted } from "./sizes.ts";

/** A value that somebody else has set and that the command would set anew. */
export type Conflict = { readonly block: BlockId; readonly fact: FactName; readonly by: Actor };

/** What a command would do, told before it is done. */
export type Plan = {
  readonly proposed: Proposed;
  readonly changedTokens: number;
  readonly freedTokens: number;
  /** Blocks whose size at the wanted level nobody knows yet: they are not in what is freed. */
  readonly unsized: readonly BlockId[];
  /** What the command cannot touch, because of who set it or what it is. */
  readonly locks: readonly Skipped[];
  readonly conflicts: readonly Conflict[];
};

const lockCodes: readonly string[] = ["AP_CHANGE_LOCKED", "AP_CHANGE_PINNED", "AP_COMMAND_REFUSED"];

/** The same proposal, counted. Nothing is kept of it, the acts least of all. */
export function planCommand(change: Change, command: Command, context: CommandContext): Plan {
  return countedPlan(change, proposeCommand(change, command, context));
}

/** What a proposal comes to, whoever made it. */
export function countedPlan(change: Change, proposed: Proposed): Plan {
  const facts = proposed.deltas.filter(isAboutFact);
  const byBlock = new Map<BlockId, FactDelta[]>(facts.map(({ block }) => [block, []]));
  for (const delta of facts) byBlock.get(delta.block)?.push(delta);
  const changed = changedPlaces(change, proposed.deltas);
  const freed = changed.map((place) => ({
    block: place.block.id,
    tokens: freedTokens(place, wantedAfter(place, byBlock.get(place.block.id) ?? [])),
  }));
  return {
    proposed,
    changedTokens: changed.reduce((sum, place) => sum + tokensWanted(place), 0),
    freedTokens: freed.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
    unsized: freed.flatMap(({ block, tokens }) => (tokens === null ? [block] : [])),
    locks: proposed.skipped.filter(({ error }) => lockCodes.includes(error.code)),
    conflicts: facts.flatMap((delta) => conflictIn(change, delta)),
  };
}

function isAboutFact(delta: Delta): delta is FactDelta {
  return factNames.some((fact) => delta.type === `${fact}-set`);
}

function wantedAfter(place: Place, deltas: readonly FactDelta[]): Shown {
  const archive = deltas.find((delta) => delta.type === "archive-set")?.to ?? factOf(place, "archive");
  const level = deltas.find((delta) => delta.type === "level-set")?.to ?? factOf(place, "level");
  return archive.value === null ? level.value : "placeholder";
}

/** Being used, and the turns that are left, are nobody's wish. */
const wishes: readonly FactName[] = ["level", "pin", "focus", "archive"];

function conflictIn({ moment, view, actor }: Change, { type, block, from }: FactDelta): readonly Conflict[] {
  const fact = wishes.find((each) => type === `${each}-set`);
  const place = fact === undefined ? null : placeOf(moment, view, block);
  if (fact === undefined || place === null || factVersion(place, fact) === null || from.by === actor)
    return [];
  return [{ block, fact, by: from.by }];
}
