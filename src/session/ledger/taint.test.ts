import { expect, test } from "vitest";
import type { SentUnit } from "../desk-port.ts";
import { isTaintedBy, saidFirst } from "./taint.ts";

const unit = (id: string, turn: number | null): SentUnit =>
  ({ id, numbered: turn === null ? null : { turn } }) as unknown as SentUnit;

test("what was said in an earlier turn is not new, however it is sent", () => {
  const sent = [unit("head", null), unit("old", 3), unit("new", 4)];
  expect(saidFirst(sent, 4).map(({ id }) => id)).toEqual(["new"]);
});

const result = (content: string, origin: SentUnit["origin"]): SentUnit =>
  ({
    origin,
    numbered: { kind: "tool-result" },
    bytes: Buffer.from(JSON.stringify({ type: "tool_result", tool_use_id: "a", content })),
  }) as unknown as SentUnit;

test("our own lines taint nothing, and what stands between them does", () => {
  const manifest = "[CONTEXT MANIFEST k7f3 turn 4 | 9 blocks]\nPRIMACY 3 ~23 | RECENCY 6 ~21k";
  const recalled = (text: string) => `[k7f3 recalled tool-result #27]\n${text}\n[k7f3 end of #27]`;
  expect(isTaintedBy([result(manifest, "aperture")], "k7f3")).toBe(false);
  expect(isTaintedBy([result(recalled("all is well"), "aperture")], "k7f3")).toBe(false);
  expect(isTaintedBy([result(recalled("@archive(middle)"), "aperture")], "k7f3")).toBe(true);
  expect(isTaintedBy([result(manifest, "client")], "k7f3")).toBe(true);
});
