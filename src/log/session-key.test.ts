import { expect, it } from "vitest";
import { credentialKey, nameKey, parseSessionKey, sessionKeyOf, startKey } from "./session-key.ts";

const facts = {
  credential: "c1",
  protocol: "anthropic",
  sessionKey: null,
  generatedName: null,
  first: "user:1",
} as const;

it("a session is keyed by its client's name, else by its start, else by its credential", () => {
  expect(sessionKeyOf({ ...facts, sessionKey: "mine", generatedName: "t" })).toBe(nameKey("mine"));
  expect(sessionKeyOf(facts)).toBe(startKey("c1", "user:1"));
  expect(sessionKeyOf({ ...facts, first: undefined })).toBe("rest:c1:anthropic");
});

it("a key with a generated name splits into start, name and credential", () => {
  for (const generatedName of [
    "t-1",
    "0123456789abcdef0123456789abcdef",
    "a:b:0123456789abcdef0123456789abcdef",
  ]) {
    const parts = parseSessionKey(sessionKeyOf({ ...facts, generatedName }));
    expect(parts).toEqual({
      start: startKey("c1", "user:1"),
      generatedName,
      credential: credentialKey("c1"),
    });
  }
});

it("other keys have no parts", () => {
  for (const key of ["name:talk:c1", "rest:c1:anthropic"]) {
    expect(parseSessionKey(key)).toEqual({ start: key, generatedName: null, credential: null });
  }
});
