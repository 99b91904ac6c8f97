import * as zlib from "node:zlib";
import { expect, it } from "vitest";
import { plainAnswer } from "./plain-answer.ts";

const json = '{"type":"message","content":[]}';
const events = `event: message_start\ndata: ${json}\n\n`.repeat(20);

const packings: readonly (readonly [string, (text: string) => Buffer])[] = [
  ["identity", (text) => Buffer.from(text)],
  ["gzip", (text) => zlib.gzipSync(text)],
  ["br", (text) => zlib.brotliCompressSync(text)],
  ["deflate", (text) => zlib.deflateSync(text)],
];

it.each(packings)("an answer is read whatever it was packed with: %s", (_, pack) => {
  const answer = plainAnswer(pack(json));
  expect([answer?.contentType, Buffer.from(answer?.body ?? []).toString()]).toEqual([
    "application/json",
    json,
  ]);
  const streamed = plainAnswer(pack(events));
  expect(streamed?.contentType).toBe("text/event-stream");
  expect(Buffer.from(streamed?.body ?? []).toString()).toBe(events);
});

it("what is neither is not guessed at", () => {
  expect(plainAnswer(Buffer.from("<html>"))).toBe(null);
  expect(plainAnswer(Buffer.alloc(0))).toBe(null);
});
