import { expect, test } from "vitest";
import { readHead } from "./headers.ts";
import { isLogin } from "./login.ts";

const body = "eyJzdWIiOiJ1c2VyIn0";

test.each([
  ["a login's token", ["Authorization", "Bearer sk-ant-oat01-abcdef"]],
  ["in any spelling", ["authorization", "bearer  sk-ant-oat01-abcdef"]],
  ["in the place of a key", ["X-Api-Key", "sk-ant-oat01-abcdef"]],
  ["beside a key", ["X-Api-Key", "sk-ant-api03-abcdef", "Authorization", "Bearer sk-ant-oat01-abcdef"]],
  ["a browser's session", ["Authorization", "Bearer sk-ant-sid01-abcdef"]],
  ["a signed token", ["Authorization", `Bearer eyJhbGciOiJSUzI1NiJ9.${body}.c2ln`]],
  ["a token of Google's", ["Authorization", "Bearer ya29.a0AfH6SM"]],
  ["an account beside it", ["Authorization", "Bearer opaque", "ChatGPT-Account-Id", "1"]],
  ["a client that says so", ["Authorization", "Bearer opaque", "anthropic-beta", "a-1,oauth-2025-04-20"]],
])("%s is a login", (_name, raw) => {
  expect(isLogin(readHead(raw))).toBe(true);
});

test.each([
  ["nothing", []],
  ["a key", ["X-Api-Key", "sk-ant-api03-abcdef"]],
  ["a key as bearer", ["Authorization", "Bearer sk-ant-api03-abcdef"]],
  ["another vendor's key", ["Authorization", "Bearer sk-proj-abcdef"]],
  ["a gateway's word", ["Authorization", "Bearer x"]],
  ["a dotted word", ["Authorization", "Bearer eyJust.a"]],
  ["a similar beta", ["X-Api-Key", "k", "anthropic-beta", "no-oauth-1,fine"]],
])("%s is none", (_name, raw) => {
  expect(isLogin(readHead(raw))).toBe(false);
});
