import { expect, it } from "vitest";
import type { LedgerQuestion } from "../read/questions.ts";
import { concerns } from "./copy-label.ts";

const label = { owner: "local", upstream: "anthropic", credential: "c1", sessionKey: null };
const question: LedgerQuestion = {
  type: "ledger",
  owner: "local",
  upstream: "anthropic",
  client: "claude-code",
  sessionKey: null,
  credential: "c1",
  agent: null,
  talk: [],
};

it("a copy concerns the session it names", () => {
  const named = { ...question, sessionKey: "one" };
  expect(concerns({ ...label, sessionKey: "one", credential: "c2" }, named)).toBe(true);
  expect(concerns({ ...label, sessionKey: "two" }, named)).toBe(false);
  expect(concerns({ ...label, sessionKey: "one" }, question)).toBe(false);
});

it("a copy without a name may be of any session of its credential", () => {
  expect(concerns(label, question)).toBe(true);
  expect(concerns(label, { ...question, sessionKey: "one" })).toBe(true);
  expect(concerns({ ...label, credential: "c2" }, question)).toBe(false);
  expect(concerns({ ...label, owner: "other" }, question)).toBe(false);
  expect(concerns({ ...label, upstream: "mine" }, question)).toBe(false);
});
