import { expect, it } from "vitest";
import { credentialKey, keyOf, keyParts, nameKey, startKey } from "./session-key.ts";

const facts = {
  credential: "c1",
  protocol: "anthropic",
  sessionKey: null,
  talkName: null,
  first: "user:1",
} as const;

it("a session is known by its client's name, else by how it begins, else by who asks", () => {
  expect(keyOf({ ...facts, sessionKey: "mine", talkName: "t" })).toBe(nameKey("mine"));
  expect(keyOf(facts)).toBe(startKey("c1", "user:1"));
  expect(keyOf({ ...facts, first: undefined })).toBe("rest:c1:anthropic");
});

it("a talk the ledger named is found by its beginning, its name and its credential", () => {
  for (const talkName of [
    "t-1",
    "0123456789abcdef0123456789abcdef",
    "a:b:0123456789abcdef0123456789abcdef",
  ]) {
    const parts = keyParts(keyOf({ ...facts, talkName }));
    expect(parts).toEqual({ start: startKey("c1", "user:1"), talkName, credential: credentialKey("c1") });
  }
});

it("other keys have no parts", () => {
  for (const key of ["name:talk:c1", "rest:c1:anthropic"]) {
    expect(keyParts(key)).toEqual({ start: key, talkName: null, credential: null });
  }
});
