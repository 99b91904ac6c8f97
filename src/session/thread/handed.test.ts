import { expect, it } from "vitest";
import type { SentReport } from "../exchange.ts";
import { COPY_BYTES, type Handed, handedBytes, lightened, ownedBy, transferable } from "./handed.ts";

const sharedBytes = Buffer.from(new SharedArrayBuffer(100)).subarray(10, 20);
const pool = Buffer.alloc(100, "x");

const sent: SentReport = {
  rendering: "managed",
  line: "l",
  talkName: null,
  briefed: 0,
  leaf: "p",
  fresh: [
    {
      id: "p",
      parent: null,
      origin: "client",
      key: "k",
      unit: 0,
      numbered: null,
      as: "original",
      bytes: pool.subarray(0, 7),
    },
    {
      id: "q",
      parent: "p",
      origin: "client",
      key: "k",
      unit: 1,
      numbered: null,
      as: "original",
      bytes: sharedBytes,
    },
  ],
  copies: [],
  isTurn: true,
  body: [sharedBytes, pool.subarray(20, 25)],
  length: 15,
  epoch: null,
};
const resent: Handed = { type: "resent", request: "r", sent };

it("what is handed over counts with its bytes, those the ledger holds anyway left out", () => {
  expect(handedBytes(resent)).toBe(COPY_BYTES + 7);
  expect(handedBytes({ ...resent, sent: null })).toBe(COPY_BYTES);
});

it("bytes get memory of their own, unless that is shared anyway", () => {
  const owned = ownedBy({ type: "resent", request: "r", sent }).sent;
  const buffers = [...(owned?.body ?? []), ...(owned?.fresh ?? []).map(({ bytes }) => bytes)].map(
    ({ buffer }) => buffer.byteLength,
  );
  expect(buffers).toEqual([100, 5, 7, 100]);
  expect(owned?.body[0]?.buffer).toBe(sharedBytes.buffer);
  expect(owned?.fresh[0]?.bytes.buffer).not.toBe(pool.buffer);
});

it("only large memory nobody needs any more is moved: not what is shared, not what the ledger sent", () => {
  const large = new Uint8Array(20_000);
  const body = [Buffer.from(new SharedArrayBuffer(20_000)), large, new Uint8Array(10)];
  const ended = {
    status: 200,
    headers: {},
    length: 0,
    outcome: "complete",
    problem: null,
    numbered: null,
  } as const;
  const copy = { id: "r", ...ended, body, firstByteMs: 1, totalMs: 2 };
  const moved = transferable({ type: "answered", copy });
  expect([moved.length, moved[0] === large.buffer]).toEqual([1, true]);
  expect(transferable({ type: "resent", request: "r", sent: { ...sent, body } })).toHaveLength(0);
});

it("what does not fit is handed over without its bytes", () => {
  const light = lightened({ type: "resent", request: "r", sent }).sent;
  expect([light?.rendering, light?.leaf, light?.body, light?.fresh]).toEqual(["managed", "p", [], []]);
});
