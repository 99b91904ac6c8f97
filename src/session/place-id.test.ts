import { expect, it } from "vitest";
import { hashContent } from "../base/index.ts";
import { placeId } from "./place-id.ts";

const hash = hashContent("x");

it("is the same for the same place, whoever asks", () => {
  expect(placeId(null, "user:1", hash)).toBe(placeId(null, "user:1", hash));
  expect(placeId(null, "user:1", hash)).toMatch(/^[0-9a-f]{32}$/);
});

it("differs where the parent, the key or the bytes differ, however they are cut", () => {
  const ids = [
    placeId(null, "user:1", hash),
    placeId("null", "user:1", hash),
    placeId("a", "user:1", hash),
    placeId('a","user', "1", hash),
    placeId("a", "user:2", hash),
    placeId("a", "user:1", hashContent("y")),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
