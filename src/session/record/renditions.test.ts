import { expect, test } from "vitest";
import { exampleBlock } from "../../../test/support/delta-examples.ts";
import { blockId, hashContent } from "../../base/index.ts";
import type { BlockKind, Delta } from "../../engine/index.ts";
import { Renditions } from "./renditions.ts";

/** A block of the log that was just added, and its content. */
function added(id: number, kind: BlockKind, wire: unknown) {
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

test("a result is told by the call it answers, also where its id was used again before it was told", () => {
  const renditions = new Renditions();
  renditions.added(...added(1, "tool-call", call("one", "python reproduce.py")));
  renditions.added(...added(2, "tool-result", result("one")));
  renditions.added(...added(3, "tool-call", call("one", "ls -F")));
  const { deltas, contents } = renditions.make(null, { turn: 100, isHastened: () => false });
  const minimal = deltas.find(
    (delta) => delta.type === "rendition-set" && delta.block === 2 && delta.level === "minimal",
  );
  const hash = minimal?.type === "rendition-set" ? minimal.to?.content : null;
  const bytes = contents.find((content) => content.hash === hash)?.bytes ?? new Uint8Array();
  expect(Buffer.from(bytes).toString("utf8")).toContain("python reproduce.py: 200 lines");
});
