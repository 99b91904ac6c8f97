import { type BlockId, unwrap } from "../base/index.ts";
import {
  archive,
  type Change,
  focus,
  type Level,
  type Proposal,
  pin,
  reference,
  restore,
  unpin,
  wantLevel,
} from "../engine/index.ts";
import type { Command, Detail } from "./command.ts";

/**
 * What is to be read and given at the tail: contents are not in the state. Words may find blocks that are
 * withheld; whoever answers leaves those out.
 */
export type Reading =
  | {
      readonly of: "blocks";
      readonly blocks: readonly BlockId[];
      readonly level: Level;
      /** The character of the first of them to begin at. */
      readonly from: number;
    }
  | { readonly of: "words"; readonly words: string }
  | { readonly of: "diff"; readonly since: number | null }
  | { readonly of: "manifest"; readonly detail: Detail };

/** A memory to be added: its id and content hash are not made here, nor the supersession that needs them. */
export type Note = {
  readonly text: string;
  readonly topic: string | null;
  readonly supersedes: BlockId | null;
};

export type Effect = Proposal & { readonly reads: readonly Reading[]; readonly notes: readonly Note[] };

/** The blocks a command may touch; `whole` where it may also do what is about no block. */
export type Granted = {
  readonly blocks: readonly BlockId[];
  readonly whole: boolean;
  readonly inPlace: boolean;
};

/** What a command does to what it was granted. Reading changes nothing but that the blocks were used. */
export function effectOf(change: Change, command: Command, granted: Granted): Effect {
  const { blocks, whole, inPlace } = granted;
  switch (command.verb) {
    case "expand":
      return inPlace ? changed(backInPlace(change, blocks, command.level)) : given(change, blocks, command);
    case "recall": {
      const words = command.target.flatMap((pointer) => (pointer.by === "topic" ? [pointer.words] : []));
      const searched = whole ? words.map((each) => ({ of: "words", words: each }) as const) : [];
      const { reads, ...rest } = given(change, blocks, { level: "original" });
      return { ...rest, reads: [...reads, ...searched] };
    }
    case "compress":
      return changed(wantLevel(change, blocks, command.level));
    case "pin":
      return changed(pin(change, blocks, command.position));
    case "unpin":
      return changed(unpin(change, blocks));
    case "focus":
      return changed(focus(change, blocks));
    case "archive":
      return changed(unwrap(archive(change, blocks, command.reason)));
    case "update":
      return {
        ...nothing,
        notes: blocks.map((block) => ({ text: command.text, topic: null, supersedes: block })),
      };
    case "create":
      return { ...nothing, notes: createdNotes(command, granted) };
    case "diff":
      return whole ? { ...nothing, reads: [{ of: "diff", since: command.since }] } : nothing;
    case "manifest":
      return whole ? { ...nothing, reads: [{ of: "manifest", detail: command.detail }] } : nothing;
  }
}

const nothing: Effect = { deltas: [], skipped: [], reads: [], notes: [] };

function changed(proposal: Proposal): Effect {
  return { ...nothing, ...proposal };
}

/** A person who looks has not used a block; a model that asks for one has. */
function given(
  change: Change,
  blocks: readonly BlockId[],
  { level, from = 0 }: { readonly level: Level; readonly from?: number },
): Effect {
  if (blocks.length === 0) return nothing;
  const used = change.actor === "user" ? nothing : changed(reference(change, blocks));
  return { ...used, reads: [{ of: "blocks", blocks, level, from }] };
}

function backInPlace(change: Change, blocks: readonly BlockId[], level: Level): Proposal {
  const [back, shown] = [restore(change, blocks), wantLevel(change, blocks, level)];
  const failed = new Set(back.skipped.map(({ block }) => block));
  const more = shown.skipped.filter(({ block }) => !failed.has(block));
  return { deltas: [...back.deltas, ...shown.deltas], skipped: [...back.skipped, ...more] };
}

function createdNotes(
  command: Extract<Command, { readonly verb: "create" }>,
  granted: Granted,
): readonly Note[] {
  const { text, topic } = command;
  if (command.supersedes === null) return granted.whole ? [{ text, topic, supersedes: null }] : [];
  return granted.blocks.map((block) => ({ text, topic, supersedes: block }));
}
