import * as zlib from "node:zlib";
import { expect, it } from "vitest";
import type { StreamLookup } from "../exchange/index.ts";
import { protocolOf } from "../protocols/index.ts";
import { answerOf, mayConcern, plainAnswer, refusedResponse } from "./read-copy.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;

const json = '{"type":"message","content":[]}';
const events = `event: message_start\ndata: ${json}\n\n`.repeat(20);

const encodings: readonly (readonly [string, (text: string) => Buffer])[] = [
  ["identity", (text) => Buffer.from(text)],
  ["gzip", (text) => zlib.gzipSync(text)],
  ["br", (text) => zlib.brotliCompressSync(text)],
  ["deflate", (text) => zlib.deflateSync(text)],
];

it.each(encodings)("an answer is read in any encoding: %s", (_, encode) => {
  const answer = plainAnswer(encode(json));
  expect([answer?.contentType, Buffer.from(answer?.body ?? []).toString()]).toEqual([
    "application/json",
    json,
  ]);
  const streamed = plainAnswer(encode(events));
  expect(streamed?.contentType).toBe("text/event-stream");
  expect(Buffer.from(streamed?.body ?? []).toString()).toBe(events);
});

it("a body that is neither JSON nor events is not read", () => {
  expect(plainAnswer(Buffer.from("<html>"))).toBe(null);
  expect(plainAnswer(Buffer.alloc(0))).toBe(null);
});

it("an answer that was read as it passed is not read again", () => {
  const answer = readAnswer(Buffer.from(json), "application/json");
  const headers = { "content-type": "application/json" };
  const copy = { ...refusedResponse, id: "r", status: 200, headers, body: Buffer.from("not JSON"), answer };
  expect(answerOf("anthropic", copy)).toBe(answer);
  const relayed = { ...copy, body: Buffer.from(json), answer: null };
  expect(answerOf("anthropic", relayed)).toEqual(answer);
});

const label = { owner: "local", upstream: "anthropic", credential: "c1", sessionKey: null };
const lookup: StreamLookup = {
  type: "ledger",
  owner: "local",
  upstream: "anthropic",
  client: "claude-code",
  sessionKey: null,
  credential: "c1",
  agent: null,
  messageKeys: [],
};

it("a copy concerns the session it names", () => {
  const named = { ...lookup, sessionKey: "one" };
  expect(mayConcern({ ...label, sessionKey: "one", credential: "c2" }, named)).toBe(true);
  expect(mayConcern({ ...label, sessionKey: "two" }, named)).toBe(false);
  expect(mayConcern({ ...label, sessionKey: "one" }, lookup)).toBe(false);
});

it("a copy without a name may concern any session of its credential", () => {
  expect(mayConcern(label, lookup)).toBe(true);
  expect(mayConcern(label, { ...lookup, sessionKey: "one" })).toBe(true);
  expect(mayConcern({ ...label, credential: "c2" }, lookup)).toBe(false);
  expect(mayConcern({ ...label, owner: "other" }, lookup)).toBe(false);
  expect(mayConcern({ ...label, upstream: "mine" }, lookup)).toBe(false);
});
