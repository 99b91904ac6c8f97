import { expect, test } from "vitest";
import { exampleBlock } from "../../test/support/delta-examples.ts";
import { blockId, hashContent } from "../base/index.ts";
import type { BlockKind, Delta } from "../engine/frames/index.ts";
import { Renditions } from "./renditions.ts";

/** The deltas and the content of a block that was just added. */
function addedBlock(id: number, kind: BlockKind, wire: unknown) {
  const bytes = Buffer.from(JSON.stringify(wire));
  const content = hashContent(bytes);
  const deltas: readonly Delta[] = [
    { type: "block-added", block: { ...exampleBlock, id: blockId(id), kind, content } },
    { type: "tokens-counted", block: blockId(id), tokens: { count: 900, exact: false } },
  ];
  return [deltas, [{ hash: content, bytes }]] as const;
}

const call = (id: string, command: string) => ({ type: "tool_use", id, name: "Bash", input: { command } });
const result = (id: string) => ({
  type: "tool_result",
  tool_use_id: id,
  content: Array.from({ length: 200 }, (_, at) => `line ${at} of what was printed`).join("\n"),
});

const never = (): boolean => false;

test("a block that was purged while it waited gets no rendition", () => {
  const renditions = new Renditions();
  renditions.addBlocks(...addedBlock(1, "tool-result", result("one")));
  renditions.addBlocks(...addedBlock(2, "tool-result", result("two")));
  const isDone = (block: number): boolean => block === 1;
  const made = renditions.make(null, { turn: 100, isUrgent: () => true, isDone });
  const blocks = made.deltas.map((delta) => (delta.type === "rendition-set" ? delta.block : null));
  expect([...new Set(blocks)]).toEqual([2]);
});

test("a result is rendered with the call it answers, also if a later call reuses its id", () => {
  const renditions = new Renditions();
  renditions.addBlocks(...addedBlock(1, "tool-call", call("one", "python reproduce.py")));
  renditions.addBlocks(...addedBlock(2, "tool-result", result("one")));
  renditions.addBlocks(...addedBlock(3, "tool-call", call("one", "ls -F")));
  const { deltas, contents } = renditions.make(null, { turn: 100, isUrgent: never, isDone: never });
  const minimal = deltas.find(
    (delta) => delta.type === "rendition-set" && delta.block === 2 && delta.level === "minimal",
  );
  const hash = minimal?.type === "rendition-set" ? minimal.to?.content : null;
  const bytes = contents.find((content) => content.hash === hash)?.bytes ?? new Uint8Array();
  expect(Buffer.from(bytes).toString("utf8")).toContain("python reproduce.py: 200 lines");
});
