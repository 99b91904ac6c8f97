import { type BlockId, unwrap } from "../base/index.ts";
import type { Level } from "../engine/frames/index.ts";
import { type ChangeContext, changes, type Proposal } from "../engine/index.ts";
import type { Command, Detail } from "./command.ts";

/**
 * Content that a command reads. The executor fetches it, since contents are not in the state, and gives it at
 * the tail. A search by words may find withheld blocks: the executor leaves those out.
 */
export type Lookup =
  | {
      readonly of: "blocks";
      readonly blocks: readonly BlockId[];
      readonly level: Level;
      /** The character at which the text of the first block begins. */
      readonly from: number;
    }
  | { readonly of: "words"; readonly words: string }
  | { readonly of: "diff"; readonly since: number | null }
  | { readonly of: "manifest"; readonly detail: Detail };

/** A memory to add. The executor makes its id and content hash, and the supersession that needs them. */
export type NewMemory = {
  readonly text: string;
  readonly topic: string | null;
  readonly supersedes: BlockId | null;
};

export type CommandEffect = Proposal & {
  readonly lookups: readonly Lookup[];
  readonly memories: readonly NewMemory[];
};

export type Grant = {
  readonly blocks: readonly BlockId[];
  /** The command may also do what is about no block: make a new memory, search, list. */
  readonly mayActWithoutBlock: boolean;
  readonly isInPlace: boolean;
};

/** Applies a command to the granted blocks only. A read changes nothing but the blocks' references. */
export function effectOf(change: ChangeContext, command: Command, grant: Grant): CommandEffect {
  const { blocks, mayActWithoutBlock, isInPlace } = grant;
  switch (command.verb) {
    case "expand":
      return isInPlace
        ? changeEffect(restoreInPlace(change, blocks, command.level))
        : readEffect(change, blocks, command);
    case "recall": {
      const words = command.target.flatMap((pointer) => (pointer.by === "topic" ? [pointer.words] : []));
      const searches = mayActWithoutBlock ? words.map((each) => ({ of: "words", words: each }) as const) : [];
      const { lookups, ...rest } = readEffect(change, blocks, { level: "original" });
      return { ...rest, lookups: [...lookups, ...searches] };
    }
    case "compress":
      return changeEffect(changes.setLevel(change, blocks, command.level));
    case "pin":
      return changeEffect(changes.pin(change, blocks, command.position));
    case "unpin":
      return changeEffect(changes.unpin(change, blocks));
    case "focus":
      return changeEffect(changes.focus(change, blocks));
    case "archive":
      return changeEffect(unwrap(changes.archive(change, blocks, command.reason)));
    case "update":
      return {
        ...noEffect,
        memories: blocks.map((block) => ({ text: command.text, topic: null, supersedes: block })),
      };
    case "create":
      return { ...noEffect, memories: newMemories(command, grant) };
    case "diff":
      return mayActWithoutBlock ? { ...noEffect, lookups: [{ of: "diff", since: command.since }] } : noEffect;
    case "manifest":
      return mayActWithoutBlock
        ? { ...noEffect, lookups: [{ of: "manifest", detail: command.detail }] }
        : noEffect;
  }
}

const noEffect: CommandEffect = { deltas: [], skipped: [], lookups: [], memories: [] };

function changeEffect(proposal: Proposal): CommandEffect {
  return { ...noEffect, ...proposal };
}

/** A model that reads a block has used it, so it counts as a reference; a user who looks at it has not. */
function readEffect(
  change: ChangeContext,
  blocks: readonly BlockId[],
  { level, from = 0 }: { readonly level: Level; readonly from?: number },
): CommandEffect {
  if (blocks.length === 0) return noEffect;
  const used = change.actor === "user" ? noEffect : changeEffect(changes.reference(change, blocks));
  return { ...used, lookups: [{ of: "blocks", blocks, level, from }] };
}

function restoreInPlace(change: ChangeContext, blocks: readonly BlockId[], level: Level): Proposal {
  const [back, shown] = [changes.restore(change, blocks), changes.setLevel(change, blocks, level)];
  const failed = new Set(back.skipped.map(({ block }) => block));
  const more = shown.skipped.filter(({ block }) => !failed.has(block));
  return { deltas: [...back.deltas, ...shown.deltas], skipped: [...back.skipped, ...more] };
}

function newMemories(
  command: Extract<Command, { readonly verb: "create" }>,
  grant: Grant,
): readonly NewMemory[] {
  const { text, topic } = command;
  if (command.supersedes === null) return grant.mayActWithoutBlock ? [{ text, topic, supersedes: null }] : [];
  return grant.blocks.map((block) => ({ text, topic, supersedes: block }));
}
