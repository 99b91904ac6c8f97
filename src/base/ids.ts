import { assert } from "./assert.ts";
import { sha256Hex } from "./hash.ts";

/**
 * Ids are branded so that a block number never passes for a message number. Inside a session they are small
 * whole numbers: a model can read, repeat and count them. Only this file makes them.
 */
export type SessionId = string & { readonly brand: "SessionId" };
export type StreamId = number & { readonly brand: "StreamId" };
export type ViewId = number & { readonly brand: "ViewId" };
export type BlockId = number & { readonly brand: "BlockId" };
export type MessageId = number & { readonly brand: "MessageId" };
export type UnitId = number & { readonly brand: "UnitId" };
export type StepId = number & { readonly brand: "StepId" };
/** A frame's number in its session, strictly +1, from 1. Zero is "before the first frame". */
export type Seq = number & { readonly brand: "Seq" };
/** A turn's number in its stream, from 1. Zero is "before the first turn". */
export type Turn = number & { readonly brand: "Turn" };
export type ContentHash = string & { readonly brand: "ContentHash" };
export type FrameHash = string & { readonly brand: "FrameHash" };

/** The first frame of a session names this hash as its predecessor. */
export const GENESIS_HASH = "0".repeat(64) as FrameHash;

const SESSION_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
const HASH = /^[0-9a-f]{64}$/;

export function isSessionId(value: unknown): value is SessionId {
  return typeof value === "string" && SESSION_ID.test(value);
}

export function isHash(value: unknown): value is ContentHash & FrameHash {
  return typeof value === "string" && HASH.test(value);
}

export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function sessionId(text: string): SessionId {
  assert(isSessionId(text), "a session id is up to 64 lower-case letters, digits and dashes");
  return text;
}

/**
 * Turns random bytes (a parameter: randomness lives at the edge) into a session id that cannot be guessed.
 */
export function sessionIdFrom(randomBytes: Uint8Array): SessionId {
  assert(randomBytes.length >= 16, "a session id needs 128 random bits");
  return sessionId(Buffer.from(randomBytes).toString("hex"));
}

export const streamId = (n: number): StreamId => checkCount(n) as StreamId;
export const viewId = (n: number): ViewId => checkCount(n) as ViewId;
export const blockId = (n: number): BlockId => checkCount(n) as BlockId;
export const messageId = (n: number): MessageId => checkCount(n) as MessageId;
export const unitId = (n: number): UnitId => checkCount(n) as UnitId;
export const stepId = (n: number): StepId => checkCount(n) as StepId;
export const seqOf = (n: number): Seq => checkCount(n) as Seq;
export const turnOf = (n: number): Turn => checkCount(n) as Turn;

export function contentHash(hex: string): ContentHash {
  assert(isHash(hex), "a content hash is 64 hex digits");
  return hex;
}

export function hashContent(bytes: Uint8Array | string): ContentHash {
  return sha256Hex(bytes) as ContentHash;
}

export function frameHash(hex: string): FrameHash {
  assert(isHash(hex), "a frame hash is 64 hex digits");
  return hex;
}

function checkCount(n: number): number {
  assert(isCount(n), "ids are whole numbers from 0");
  return n;
}
