import {
  type BlockId,
  type ContentHash,
  cutText,
  fail,
  limits,
  type MessageId,
  must,
  ok,
  type Result,
} from "../base/index.ts";
import type { Block, Scope, Taint, Tokens } from "./block.ts";
import { alone, type Change, type Proposal, propose } from "./change.ts";
import type { Delta } from "./delta.ts";
import { notesOf, placeOf, streamOf, turnNow } from "./moment.ts";

/** What is to be remembered. Both ids are reserved for the stream and not in use. */
export type MemoryWish = {
  readonly id: BlockId;
  readonly message: MessageId;
  readonly content: ContentHash;
  readonly tokens: Tokens;
  /** What recall finds it by; null: nothing but its words. */
  readonly topic: string | null;
  /** The block it says anew, a memory or any other. */
  readonly supersedes: BlockId | null;
  /** Whether text that nobody vouches for had a part in it. */
  readonly isTainted: boolean;
};

export type AddedMemory = Proposal & {
  readonly block: Block;
  /** To be appended without a step, behind the rest: a count cannot be taken back, a memory can. */
  readonly counted: Delta;
};

/**
 * A memory, with a message of its own and without an end. What it says anew is marked as outdated; where
 * somebody stronger has spoken about that, it is skipped and the memory stands beside it.
 */
export function addMemory(change: Change, wish: MemoryWish): Result<AddedMemory> {
  const { moment, view } = change;
  const { id, message, content, tokens, supersedes } = wish;
  if (supersedes !== null && placeOf(moment, view, supersedes) === null) {
    return fail("AP_BLOCK_UNKNOWN", { block: supersedes });
  }
  const block: Block = {
    id,
    kind: "memory",
    stream: view.stream,
    message,
    turn: turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream")),
    speaker: change.actor,
    content,
    anchor: `memory-${id}`,
    pair: null,
    taint: taintOf(change, wish),
    supersedes,
    ttl: null,
  };
  const older = supersedes === null ? [] : [supersedes];
  const { deltas, skipped } = propose(change, alone(change, older), () => ({ supersession: id }));
  return ok({
    block,
    deltas: [{ type: "block-added", block }, ...topicDeltas(wish), ...deltas],
    skipped,
    counted: { type: "tokens-counted", block: id, tokens },
  });
}

/** Nobody but the user makes text that counts as the user's. */
function taintOf({ actor }: Change, { isTainted }: MemoryWish): Taint {
  if (isTainted) return "untrusted";
  return actor === "user" ? "user" : "model";
}

function topicDeltas({ id, topic }: MemoryWish): readonly Delta[] {
  const name = cutText(topic?.trim() ?? "", limits.topicCharsMax);
  return name === "" ? [] : [{ type: "topics-set", block: id, from: [], to: [name] }];
}

/** What outlives the session, other sessions will read: only the user lets it, or takes it back. */
export function setScope(change: Change, block: BlockId, to: Scope): Result<readonly Delta[]> {
  if (change.actor !== "user") return fail("AP_CHANGE_USER", { what: "keep something beyond the session" });
  if (placeOf(change.moment, change.view, block) === null) return fail("AP_BLOCK_UNKNOWN", { block });
  const { scope: from, purged } = must(notesOf(change.moment, block), "a block has notes");
  if (purged && to === "project") return fail("AP_BLOCK_PURGED", { block });
  return ok(from === to ? [] : [{ type: "scope-set", block, from, to }]);
}
