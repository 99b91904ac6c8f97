import { describe, expect, it } from "vitest";
import { dump, main, TestSession } from "../../test/support/engine.ts";
import { expectComplete, expectRefusal, named, type Refusal } from "../../test/support/refusals.ts";
import {
  type BlockId,
  blockId,
  hashContent,
  limits,
  messageId,
  must,
  streamId,
  turnOf,
  unwrap,
} from "../base/index.ts";
import type { Block } from "./frames/block.ts";
import type { Delta } from "./frames/delta.ts";
import { attributesOf, blockOf, momentAt, now } from "./moment/moment.ts";
import { replayFrames } from "./reduce.ts";
import { emptyState } from "./state.ts";

const blockAdded = (block: Block): Delta => ({ type: "block-added", block });
const blockRemoved = (block: Block): Delta => ({ type: "block-removed", block });
const blockPurged = (block: BlockId): Delta => ({ type: "block-purged", block });
const tokens = { count: 3, exact: true };
const tokensCounted = (block: BlockId, count = 3): Delta => ({
  type: "tokens-counted",
  block,
  tokens: { ...tokens, count },
});
const topicsSet = (block: BlockId, from: readonly string[], to: readonly string[]): Delta => ({
  type: "topics-set",
  block,
  from,
  to,
});
const scopeSet = (block: BlockId, from: "session" | "project"): Delta => ({
  type: "scope-set",
  block,
  from,
  to: "project",
});
const rendition = (name: string) => ({ content: hashContent(name), tokens });
const renditionSet = (block: BlockId, from: string | null, to: string | null): Delta => ({
  type: "rendition-set",
  block,
  level: "trimmed",
  from: from === null ? null : rendition(from),
  to: to === null ? null : rendition(to),
});
const unknownBlock = blockId(50);
const ephemeralBlock = (session: TestSession): Block => ({ ...session.wished(), ephemeral: true });

/** A block that was added and removed again, as undoing its creation does. */
function removedBlock(session: TestSession): Block {
  const block = session.wished();
  session.append([blockAdded(block)]);
  session.append([blockRemoved(block)]);
  return block;
}

/** A block for a message or pair that is full. */
function blockForFullGroup(session: TestSession, group: "message" | "pair"): Block {
  const most = group === "message" ? limits.blocksPerMessageMax : limits.blocksPerPairMax;
  session.addPair({});
  const block = session.wished({ message: messageId(1), pair: messageId(1) });
  const ids = Array.from({ length: most }, (_, index) => blockId(index + 1));
  const { state } = session;
  session.state =
    group === "message"
      ? { ...state, messages: state.messages.with(1, ids) }
      : { ...state, pairs: state.pairs.with(1, ids) };
  return block;
}

const otherMessage = "its message has another speaker or turn";
const fullGroup = "its message or pair is full";

const refusals: readonly Refusal[] = [
  {
    when: "its stream does not exist",
    code: "AP_STREAM_UNKNOWN",
    deltas: (s) => [blockAdded({ ...s.wished(), stream: streamId(9) })],
  },
  {
    when: "it is there already",
    code: "AP_BLOCK_EXISTS",
    deltas: (s) => [blockAdded(s.wished()), blockAdded(s.wished())],
  },
  {
    when: "another block had its id and was taken away",
    code: "AP_BLOCK_EXISTS",
    deltas: (s) => [blockAdded({ ...removedBlock(s), anchor: "another" })],
  },
  {
    when: "it was a block for one frame",
    code: "AP_BLOCK_EXISTS",
    deltas: (s) => {
      const block = ephemeralBlock(s);
      s.append([blockAdded(block)]);
      s.pass(1);
      return [blockAdded(block)];
    },
  },
  {
    when: "something is noted of a block that ends with this frame",
    code: "AP_BLOCK_INVALID",
    problem: "it ends with its frame",
    deltas: (s) => [blockAdded(ephemeralBlock(s)), tokensCounted(ephemeralBlock(s).id)],
  },
  {
    when: "its id was never reserved",
    code: "AP_BLOCK_ID",
    deltas: (s) => [blockAdded(s.wished({ id: blockId(101) }))],
  },
  { when: "its id is zero", code: "AP_BLOCK_ID", deltas: (s) => [blockAdded(s.wished({ id: blockId(0) }))] },
  {
    when: "its message was never reserved",
    code: "AP_BLOCK_ID",
    deltas: (s) => [blockAdded(s.wished({ message: messageId(101) }))],
  },
  {
    when: "its id was reserved for another stream",
    code: "AP_BLOCK_ID",
    deltas: (s) => [blockAdded({ ...s.wished({ view: s.fork() }), id: blockId(1) })],
  },
  {
    when: "its message belongs to another speaker",
    code: "AP_BLOCK_INVALID",
    problem: otherMessage,
    deltas: (s) => [
      blockAdded(s.wished()),
      blockAdded(s.wished({ id: blockId(2), speaker: "someone else" })),
    ],
  },
  {
    when: "its message belongs to another turn",
    code: "AP_BLOCK_INVALID",
    problem: otherMessage,
    deltas: (s) => [blockAdded(s.wished()), blockAdded(s.wished({ id: blockId(2), turn: turnOf(7) }))],
  },
  {
    when: "its pair is no message that was ever reserved",
    code: "AP_BLOCK_INVALID",
    problem: "its pair is not a message",
    deltas: (s) => [blockAdded(s.wished({ pair: messageId(101) }))],
  },
  {
    when: "its pair is a number no table can be keyed by",
    code: "AP_BLOCK_INVALID",
    problem: "its pair is not a message",
    deltas: (s) => [blockAdded(s.wished({ pair: messageId(2 ** 40) }))],
  },
  {
    when: "its message is full",
    code: "AP_BLOCK_INVALID",
    problem: fullGroup,
    deltas: (s) => [blockAdded({ ...blockForFullGroup(s, "message"), pair: null })],
  },
  {
    when: "its pair is full",
    code: "AP_BLOCK_INVALID",
    problem: fullGroup,
    deltas: (s) => [blockAdded(blockForFullGroup(s, "pair"))],
  },
  {
    when: "what is removed is not there",
    code: "AP_BLOCK_UNKNOWN",
    deltas: (s) => [blockRemoved(s.wished())],
  },
  {
    when: "what is removed is gone already",
    code: "AP_BLOCK_UNKNOWN",
    deltas: (s) => [blockRemoved(removedBlock(s))],
  },
  {
    when: "what is removed is not what was added",
    code: "AP_DELTA_STALE",
    deltas: (s) => [blockAdded(s.wished()), blockRemoved({ ...s.wished(), anchor: "another" })],
  },
  {
    when: "what is purged is not there",
    code: "AP_BLOCK_UNKNOWN",
    deltas: () => [blockPurged(unknownBlock)],
  },
  {
    when: "what is counted is not there",
    code: "AP_BLOCK_UNKNOWN",
    deltas: () => [tokensCounted(unknownBlock)],
  },
  {
    when: "what has topics is not there",
    code: "AP_BLOCK_UNKNOWN",
    deltas: () => [topicsSet(unknownBlock, [], ["a"])],
  },
  {
    when: "what has a scope is not there",
    code: "AP_BLOCK_UNKNOWN",
    deltas: () => [scopeSet(unknownBlock, "session")],
  },
  {
    when: "what has a rendition is not there",
    code: "AP_BLOCK_UNKNOWN",
    deltas: () => [renditionSet(unknownBlock, null, "a")],
  },
  {
    when: "a lost rendition's block is not there",
    code: "AP_BLOCK_UNKNOWN",
    deltas: () => [renditionSet(unknownBlock, "a", null)],
  },
  {
    when: "tokens are counted twice",
    code: "AP_TOKENS_FROZEN",
    deltas: (s) => [tokensCounted(s.add()), tokensCounted(blockId(1), 4)],
  },
  {
    when: "tokens are counted twice, though the count is the same",
    code: "AP_TOKENS_FROZEN",
    deltas: (s) => [tokensCounted(s.add()), tokensCounted(blockId(1))],
  },
  {
    when: "a count of zero is counted anew",
    code: "AP_TOKENS_FROZEN",
    deltas: (s) => [tokensCounted(s.add(), 0), tokensCounted(blockId(1), 4)],
  },
  {
    when: "topics do not start from the present ones",
    code: "AP_DELTA_STALE",
    deltas: (s) => [topicsSet(s.add(), ["b"], ["a"])],
  },
  {
    when: "topics start from the present ones in another order",
    code: "AP_DELTA_STALE",
    deltas: (s) => [topicsSet(s.add(), [], ["a", "b"]), topicsSet(blockId(1), ["b", "a"], [])],
  },
  {
    when: "a scope does not start from the present one",
    code: "AP_DELTA_STALE",
    deltas: (s) => [scopeSet(s.add(), "project")],
  },
  {
    when: "a rendition starts from one that was never set",
    code: "AP_DELTA_STALE",
    deltas: (s) => [renditionSet(s.add(), "a", "b")],
  },
  {
    when: "a rendition starts from none though there is one",
    code: "AP_DELTA_STALE",
    deltas: (s) => [renditionSet(s.add(), null, "a"), renditionSet(blockId(1), null, "b")],
  },
  {
    when: "a block supersedes one that does not exist",
    code: "AP_BLOCK_INVALID",
    problem: "it supersedes a block that does not exist",
    deltas: (s) => [blockAdded(s.wished({ supersedes: blockId(9) }))],
  },
];

describe("a block or an attribute is refused", () => {
  it.each(named(refusals))("with %s", (_, refusal) => {
    expectRefusal(refusal);
  });

  it("for no reason that has no test", () => {
    expectComplete("reduce-block.ts", refusals);
  });
});

describe("a block that is added", () => {
  it("keeps all its fields and the seq of the frame that added it", () => {
    const session = new TestSession();
    const older = session.add();
    const block = session.wished({ kind: "memory", span: 4, supersedes: older });
    const seq = session.append([blockAdded(block)]);
    expect(blockOf(now(session.state), block.id)).toEqual({ ...block, addedSeq: seq });
    expect(attributesOf(now(session.state), block.id)).toEqual({
      present: true,
      purged: false,
      tokens: null,
      topics: [],
      scope: "session",
      renditions: {},
    });
  });

  it("is listed in its stream, message and pair, in order", () => {
    const session = new TestSession();
    const [call] = session.addPair({ kind: "tool-call" }, { kind: "tool-call" });
    session.add();
    const { pair, message } = must(session.state.blocks.get(must(call, "call")), "block").block;
    session.add({ kind: "tool-result", pair });
    expect([...session.stream().blocks.entries()].map(([, id]) => id)).toEqual([1, 2, 3, 4]);
    expect(session.state.messages.get(message)).toEqual([1, 2]);
    expect(session.state.pairs.get(must(pair, "pair"))).toEqual([1, 2, 4]);
  });

  it("may leave gaps in the ids: skipped ids stay free", () => {
    const session = new TestSession();
    session.add({ id: blockId(40) });
    session.add({ id: blockId(3) });
    expect([...session.stream().blocks.entries()].map(([, id]) => id)).toEqual([40, 3]);
  });

  it("may have an id of any reservation of its stream", () => {
    const session = new TestSession();
    session.reserve();
    session.reserve();
    for (const id of [1, 100, 101, 150, 200, 201, 300]) session.add({ id: blockId(id) });
    expect([...session.stream().blocks.entries()]).toHaveLength(7);
    expect(session.attempt([blockAdded(session.wished({ id: blockId(301) }))]).ok).toBe(false);
  });

  it("may join the pair of a call its parent stream made before the fork", () => {
    const session = new TestSession();
    const [call] = session.addPair({ kind: "tool-call" });
    const { pair } = must(session.state.blocks.get(must(call, "call")), "block").block;
    const child = session.fork();
    const result = session.add({ kind: "tool-result", pair, view: child });
    expect(session.state.pairs.get(must(pair, "pair"))).toEqual([call, result]);
  });
});

describe("a block that was removed", () => {
  it("is absent from then on, and present before", () => {
    const session = new TestSession();
    const block = removedBlock(session);
    const at = (seq: number) =>
      blockOf({ state: session.state, seq: session.frames[seq - 1]?.seq ?? session.state.seq }, block.id);
    expect([at(1), at(2)?.id, at(3)]).toEqual([null, block.id, null]);
  });

  it("comes back when the identical block is added again, any number of times", () => {
    const session = new TestSession();
    const block = removedBlock(session);
    session.append([blockAdded(block)]);
    session.append([blockRemoved(block)]);
    session.append([blockAdded(block)]);
    expect(blockOf(now(session.state), block.id)).toMatchObject(block);
    expect([...session.stream().blocks.entries()]).toHaveLength(1);
    expect(session.state.messages.get(block.message)).toEqual([block.id]);
    expect(session.stream().id).toBe(main);
  });

  it("keeps its attributes while it is absent, and its token count stays frozen", () => {
    const session = new TestSession();
    const block = session.wished();
    session.append([blockAdded(block), tokensCounted(block.id), topicsSet(block.id, [], ["a"])]);
    session.append([blockRemoved(block)]);
    session.append([blockAdded(block)]);
    expect(attributesOf(now(session.state), block.id)).toMatchObject({
      present: true,
      tokens,
      topics: ["a"],
    });
  });
});

describe("attributes", () => {
  it("are replaced as a whole, never merged", () => {
    const session = new TestSession();
    const block = session.add();
    session.append([topicsSet(block, [], ["a", "b"])]);
    session.append([topicsSet(block, ["a", "b"], ["c"])]);
    expect(attributesOf(now(session.state), block)?.topics).toEqual(["c"]);
  });

  it("of one level do not affect the other levels, and a removed rendition is gone", () => {
    const session = new TestSession();
    const block = session.add();
    session.append([
      renditionSet(block, null, "short"),
      { ...renditionSet(block, null, "line"), level: "minimal" } as Delta,
    ]);
    expect(attributesOf(now(session.state), block)?.renditions).toEqual({
      trimmed: rendition("short"),
      minimal: rendition("line"),
    });
    session.append([renditionSet(block, "short", null)]);
    expect(attributesOf(now(session.state), block)?.renditions).toEqual({ minimal: rendition("line") });
  });

  it("keep their value as of every seq", () => {
    const session = new TestSession();
    const block = session.add();
    const first = session.append([topicsSet(block, [], ["a"])]);
    session.append([topicsSet(block, ["a"], ["b"]), scopeSet(block, "session")]);
    const then = momentAt(session.state, first);
    expect(then.ok && attributesOf(then.value, block)).toMatchObject({ topics: ["a"], scope: "session" });
    expect(attributesOf(now(session.state), block)).toMatchObject({ topics: ["b"], scope: "project" });
  });

  it("keep that a block was purged, for good", () => {
    const session = new TestSession();
    const block = session.add();
    session.append([blockPurged(block)]);
    session.append([blockPurged(block)]);
    expect(attributesOf(now(session.state), block)).toMatchObject({ purged: true, present: true });
  });
});

describe("an ephemeral block", () => {
  it("is present in its frame, gone with the next, and the same in replay", () => {
    const session = new TestSession();
    const block = ephemeralBlock(session);
    const seq = session.append([blockAdded(block)]);
    expect(blockOf(now(session.state), block.id)).not.toBeNull();
    session.pass(1);
    expect(blockOf(now(session.state), block.id)).toBeNull();
    const then = unwrap(momentAt(session.state, seq));
    expect(blockOf(then, block.id)).toMatchObject({ ephemeral: true });
    const again = unwrap(replayFrames(emptyState(session.state.session), session.frames));
    expect(dump(again)).toEqual(dump(session.state));
  });
});
