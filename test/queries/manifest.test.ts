import { describe, expect, it } from "vitest";
import {
  blockId,
  type ContentHash,
  hashContent,
  messageId,
  streamId,
  turnOf,
  unitId,
  unwrap,
  viewId,
} from "../../src/base/index.ts";
import type { Delta } from "../../src/engine/frames/index.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import type { Store } from "../../src/store/index.ts";
import type { ObservedSession } from "../support/observed-session.ts";
import { first, scene, second } from "../support/query-scene.ts";

const ask = { type: "manifest", session: "s1", detail: "summary" } as const;

describe("the manifest", () => {
  it("is that of the next turn, with the figures of the state", async () => {
    const { watched, ask: answerTo } = await scene();
    await watched.talk(first);
    await watched.talk(second);
    const answer = await answerTo(ask);
    expect(answer).toMatchObject({ session: "s1", seq: 5, stream: 1, turn: 3, mode: "observe" });
    const [head = "", zones = ""] = answer.text.split("\n");
    const { window } = await answerTo({ type: "state", session: "s1" });
    expect(window).toMatchObject({ used: 1_160, size: 2_000 });
    expect(head).toMatch(/^\[CONTEXT MANIFEST ---- turn 3 \| 4 blocks \| 1\.2k\/2k tokens, 58%\]$/);
    expect(zones).toMatch(/^MIDDLE \d|^RECENCY \d/);
    expect([answer.ranges, answer.signatures]).toEqual([[], 0]);
  });

  it("names the user's selection and changes since the last turn", async () => {
    const { watched, ask: answerTo } = await scene();
    await watched.talk(first);
    await answerTo({ type: "select", session: "s1", blocks: [2] });
    const { text } = await answerTo({ ...ask, detail: "detailed" });
    expect(text).toContain("[user-selected] #2");
    expect(text).toContain("SINCE LAST TURN");
  });

  it("of an unknown stream is refused", async () => {
    const { library: deps } = await scene();
    const answer = await answerQuestion(deps, { ...ask, stream: 7 });
    expect(answer).toMatchObject({ error: { code: "AP_STREAM_UNKNOWN" } });
  });

  it("counts the stored signatures of pruned messages", async () => {
    const { watched, store, ask: answerTo } = await scene();
    await watched.talk(first);
    const kept = [thought("one", "c2ln"), thought("two", "c2ln"), thought("three")];
    const hashes = await addPruned(watched, store, kept);
    const all = await answerTo({ ...ask, detail: "detailed" });
    expect(all.ranges).toEqual([{ from: 3, to: 5, reasons: ["done"], signatures: 2 }]);
    expect(all.signatures).toBe(2);
    expect(all.text).toContain("PRUNED messages 3..5");
    const read = await answerTo({ type: "expansion", session: "s1", from: { first: 3, last: 5 } });
    expect(read.rows.map(({ shown, text }) => [shown, text])).toEqual([
      ["placeholder", "one"],
      ["placeholder", "two"],
      ["placeholder", "three"],
    ]);
    unwrap(await store.purge(hashes.slice(0, 1)));
    expect((await answerTo(ask)).signatures).toBe(1);
  });
});

function thought(thinking: string, signature?: string): Buffer {
  return Buffer.from(JSON.stringify({ type: "thinking", thinking, signature }));
}

/** Adds reasoning that is sent as placeholders, each in a message of its own. */
async function addPruned(watched: ObservedSession, store: Store, contents: readonly Buffer[]) {
  const hashed = contents.map((bytes) => ({ hash: hashContent(bytes), bytes }));
  store.append({ contents: hashed });
  const [stream, view] = [streamId(1), viewId(1)];
  const added = hashed.flatMap(({ hash }, at): Delta[] => {
    const id = blockId(3 + at);
    const archived = { value: { reason: "done" }, by: "user" } as const;
    const from = { value: null, by: "policy" } as const;
    return [
      { type: "block-added", block: reasoning(3 + at, hash) },
      { type: "archive-set", view, block: id, from, to: archived },
    ];
  });
  const unit = {
    id: unitId(watched.log.state().units.size),
    stream,
    parent: unitId(watched.log.state().units.size - 1),
    message: null,
    origin: "aperture",
    anchor: "ours",
    bytes: hashContent("ours"),
    shows: hashed.map((_, at) => ({ block: blockId(3 + at), as: "placeholder" }) as const),
  } as const;
  const exchange = {
    id: 2,
    request: "ap-1-2",
    stream,
    role: "turn",
    relation: "append",
    of: null,
    model: "claude-opus-5-5",
    target: "POST /v1/messages",
    bytes: 1,
  } as const;
  await watched.append([
    ...added,
    { type: "unit-sent", unit },
    { type: "exchange-opened", exchange },
    { type: "turn-sent", view, turn: turnOf(2), leaf: unit.id, exchange: 2 },
  ]);
  return hashed.map(({ hash }) => hash);
}

function reasoning(n: number, content: ContentHash) {
  return {
    id: blockId(n),
    kind: "reasoning",
    stream: streamId(1),
    message: messageId(n),
    turn: turnOf(1),
    speaker: "model",
    content,
    anchor: `a${n}`,
    pair: null,
    taint: "model",
    supersedes: null,
    ttl: null,
  } as const;
}
