import { expect, it } from "vitest";
import { hashContent } from "../base/index.ts";
import { nodeId } from "./node-id.ts";

const hash = hashContent("x");

it("is the same for the same parent, key and bytes", () => {
  expect(nodeId(null, "user:1", hash)).toBe(nodeId(null, "user:1", hash));
  expect(nodeId(null, "user:1", hash)).toMatch(/^[0-9a-f]{32}$/);
});

it("differs if the parent, the key or the bytes differ, wherever one ends and the next begins", () => {
  const ids = [
    nodeId(null, "user:1", hash),
    nodeId("null", "user:1", hash),
    nodeId("a", "user:1", hash),
    nodeId('a","user', "1", hash),
    nodeId("a", "user:2", hash),
    nodeId("a", "user:1", hashContent("y")),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
