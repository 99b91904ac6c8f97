import { expect, it } from "vitest";
import type { SentRequest } from "../../exchange/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import {
  COPY_BYTES,
  messageBytes,
  type RecorderMessage,
  transferList,
  withOwnMemory,
  withoutBodies,
} from "./recorder-message.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;

const sharedBytes = Buffer.from(new SharedArrayBuffer(100)).subarray(10, 20);
const pool = Buffer.alloc(100, "x");

const sent: SentRequest = {
  rendering: "managed",
  streamKey: "l",
  generatedName: null,
  wishesSeq: 0,
  leaf: "p",
  fresh: [
    {
      id: "p",
      parent: null,
      origin: "client",
      key: "k",
      clientIndex: 0,
      numbered: null,
      as: "original",
      bytes: pool.subarray(0, 7),
    },
    {
      id: "q",
      parent: "p",
      origin: "client",
      key: "k",
      clientIndex: 1,
      numbered: null,
      as: "original",
      bytes: sharedBytes,
    },
  ],
  aliases: [],
  isTurn: true,
  body: [sharedBytes, pool.subarray(20, 25)],
  length: 15,
  epoch: null,
};
const resent: RecorderMessage = { type: "resent", request: "r", sent };

it("a message counts its bytes, except those in shared memory", () => {
  expect(messageBytes(resent)).toBe(COPY_BYTES + 7);
  expect(messageBytes({ ...resent, sent: null })).toBe(COPY_BYTES);
});

it("pieces get memory of their own, unless they are in shared memory", () => {
  const owned = withOwnMemory({ type: "resent", request: "r", sent }).sent;
  const buffers = [...(owned?.body ?? []), ...(owned?.fresh ?? []).map(({ bytes }) => bytes)].map(
    ({ buffer }) => buffer.byteLength,
  );
  expect(buffers).toEqual([100, 5, 7, 100]);
  expect(owned?.body[0]?.buffer).toBe(sharedBytes.buffer);
  expect(owned?.fresh[0]?.bytes.buffer).not.toBe(pool.buffer);
});

it("moves only large buffers that are neither shared nor used by the ledger", () => {
  const large = new Uint8Array(20_000);
  const body = [Buffer.from(new SharedArrayBuffer(20_000)), large, new Uint8Array(10)];
  const ended = {
    status: 200,
    headers: {},
    length: 0,
    answer: null,
    outcome: "complete",
    problem: null,
    blockNumbers: null,
  } as const;
  const copy = { id: "r", ...ended, body, firstByteMs: 1, totalMs: 2 };
  const moved = transferList({ type: "answered", copy });
  expect([moved.length, moved[0] === large.buffer]).toEqual([1, true]);
  expect(transferList({ type: "resent", request: "r", sent: { ...sent, body } })).toHaveLength(0);
});

it("an answer that was read crosses with its units, each in memory of its own", () => {
  const message = { content: [{ type: "text", text: "a".repeat(50) }] };
  const answer = readAnswer(Buffer.from(JSON.stringify(message)), "application/json");
  const [unit] = answer.units;
  const end = { outcome: "complete", problem: null, blockNumbers: null, firstByteMs: 1, totalMs: 2 } as const;
  const copy = { id: "r", status: 200, headers: {}, body: [], length: 0, answer, ...end };
  const answered = { type: "answered", copy } as const;
  expect(messageBytes(answered)).toBe(COPY_BYTES + (unit?.bytes.length ?? 0));
  const [owned] = withOwnMemory(answered).copy.answer?.units ?? [];
  expect(owned?.bytes.buffer.byteLength).toBe(unit?.bytes.length);
  expect(structuredClone(owned)).toEqual({ ...unit, bytes: new Uint8Array(unit?.bytes ?? []) });
  expect(withoutBodies(answered).copy.answer).toBeNull();
});

it("a message without bodies keeps everything else", () => {
  const withoutBytes = withoutBodies({ type: "resent", request: "r", sent }).sent;
  expect([withoutBytes?.rendering, withoutBytes?.leaf, withoutBytes?.body, withoutBytes?.fresh]).toEqual([
    "managed",
    "p",
    [],
    [],
  ]);
});
