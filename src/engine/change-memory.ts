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
import { type ChangeContext, type Proposal, propose, singleTargets } from "./change-facts.ts";
import type { Block, Scope, Taint, Tokens } from "./frames/block.ts";
import type { Delta } from "./frames/delta.ts";
import { attributesOf, blockViewOf, streamOf, turnNow } from "./moment/moment.ts";

/** The memory to add. Both ids are reserved for the stream and not in use. */
export type MemoryInput = {
  readonly id: BlockId;
  readonly message: MessageId;
  readonly content: ContentHash;
  readonly tokens: Tokens;
  /** A topic recall finds it by. Null if its own words are enough. */
  readonly topic: string | null;
  /** The block it replaces, a memory or any other. */
  readonly supersedes: BlockId | null;
  /** True if untrusted text had a part in it. */
  readonly isTainted: boolean;
};

export type MemoryProposal = Proposal & {
  readonly block: Block;
  /** To be appended without a step, after the other deltas: a memory can be undone, a token count cannot. */
  readonly counted: Delta;
};

/**
 * Adds a memory with a message of its own and without expiry. The block it replaces is marked as superseded;
 * if a stronger actor set that fact, the block is skipped and both stay valid.
 */
export function addMemory(context: ChangeContext, wish: MemoryInput): Result<MemoryProposal> {
  const { moment, view } = context;
  const { id, message, content, tokens, supersedes } = wish;
  if (supersedes !== null && blockViewOf(moment, view, supersedes) === null) {
    return fail("AP_BLOCK_UNKNOWN", { block: supersedes });
  }
  const block: Block = {
    id,
    kind: "memory",
    stream: view.stream,
    message,
    turn: turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream")),
    speaker: context.actor,
    content,
    form: "part",
    anchor: `memory-${id}`,
    pair: null,
    taint: taintOf(context, wish),
    supersedes,
    ttl: null,
  };
  const older = supersedes === null ? [] : [supersedes];
  const { deltas, skipped } = propose(context, singleTargets(context, older), () => ({ supersession: id }));
  return ok({
    block,
    deltas: [{ type: "block-added", block }, ...topicDeltas(wish), ...deltas],
    skipped,
    counted: { type: "tokens-counted", block: id, tokens },
  });
}

/** Only text from the user counts as the user's. */
function taintOf({ actor }: ChangeContext, { isTainted }: MemoryInput): Taint {
  if (isTainted) return "untrusted";
  return actor === "user" ? "user" : "model";
}

function topicDeltas({ id, topic }: MemoryInput): readonly Delta[] {
  const name = cutText(topic?.trim() ?? "", limits.topicCharsMax);
  return name === "" ? [] : [{ type: "topics-set", block: id, from: [], to: [name] }];
}

/** Other sessions will read a memory that outlives its session, so only the user may change the scope. */
export function setScope(context: ChangeContext, block: BlockId, to: Scope): Result<readonly Delta[]> {
  if (context.actor !== "user") return fail("AP_CHANGE_USER", { what: "keep something beyond the session" });
  if (blockViewOf(context.moment, context.view, block) === null) return fail("AP_BLOCK_UNKNOWN", { block });
  const { scope: from, purged } = must(attributesOf(context.moment, block), "a block has attributes");
  if (purged && to === "project") return fail("AP_BLOCK_PURGED", { block });
  return ok(from === to ? [] : [{ type: "scope-set", block, from, to }]);
}
