import { describe, expect, test } from "vitest";
import { TestSession } from "../../../test/support/engine.ts";
import { type BlockId, hashContent, ok } from "../../base/index.ts";
import type { Block } from "../../engine/frames/index.ts";
import { type ChangeContext, changes } from "../../engine/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import { restatedMemories } from "./memories.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const textBlock = anthropic.write.text;

const memory = "The upload timeout is 30 seconds and must not be raised.";
const otherwise = "The upload timeout is 90 seconds and must not be raised.";
const store = { content: async () => ok(textBlock(memory)) };

/** The memories that an answer would mark. */
async function markedMemories(change: ChangeContext, answer: string): Promise<readonly BlockId[]> {
  const found = await restatedMemories(change, answer, store);
  return found.flatMap(({ deltas }) =>
    deltas.flatMap((delta) => (delta.type === "supersession-set" ? [delta.block] : [])),
  );
}

function withMemory(more: Partial<Block> = {}) {
  const session = new TestSession();
  const block = session.add({ kind: "memory", content: hashContent(memory), ...more });
  session.add({ kind: "assistant", taint: "model" });
  return { session, block };
}

describe.each([memory, otherwise])("an answer that says: %s", (answer) => {
  test("marks a memory of the model", async () => {
    const { session, block } = withMemory({ taint: "model" });
    expect(await markedMemories(session.by("policy"), answer)).toEqual([block]);
  });

  test("does not mark a memory that the user wrote, pinned, selected or shared", async () => {
    const written = withMemory({ taint: "user" });
    const pinned = withMemory({ taint: "model" });
    pinned.session.take(changes.pin(pinned.session.by("model"), [pinned.block], "top"));
    const selected = withMemory({ taint: "model" });
    selected.session.take(changes.select(selected.session.by("user"), [selected.block]), "user");
    const shared = withMemory({ taint: "model" });
    const scoped = changes.setScope(shared.session.by("user"), shared.block, "project");
    shared.session.append(scoped.ok ? scoped.value : []);
    for (const { session } of [written, pinned, selected, shared]) {
      expect(await markedMemories(session.by("policy"), answer)).toEqual([]);
    }
  });
});
