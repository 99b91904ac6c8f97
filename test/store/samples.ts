import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import {
  blockId,
  type ContentHash,
  type FrameHash,
  GENESIS_HASH,
  hashContent,
  messageId,
  type Result,
  type SessionId,
  seqOf,
  sessionId,
  sha256Hex,
  streamId,
  turnOf,
  unwrap,
} from "../../src/base/index.ts";
import { type Delta, type Frame, sealFrame } from "../../src/engine/frames/index.ts";
import type {
  Batch,
  Body,
  ExchangeSide,
  HashedContent,
  RecipePiece,
  Snapshot,
  Store,
} from "../../src/store/index.ts";

export const session = sessionId("sample");
export const otherSession = sessionId("other");

export function content(text: string | Uint8Array): HashedContent {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  return { hash: hashContent(bytes), bytes: new Uint8Array(bytes) };
}

/** Text that does not repeat and hardly compresses. */
export function noise(seed: string, length: number): string {
  let text = "";
  for (let n = 0; text.length < length; n++) text += sha256Hex(`${seed} ${n}`);
  return text.slice(0, length);
}

export type FrameOptions = {
  readonly session?: SessionId;
  readonly seq: number;
  readonly prevHash: FrameHash;
  readonly contents?: readonly ContentHash[];
  readonly note?: string;
};

/** A frame of valid shape. A store does not check whether it fits a state. */
export function frame(options: FrameOptions): Frame {
  const { seq, prevHash, contents = [], note = "" } = options;
  return sealFrame(
    {
      session: options.session ?? session,
      seq: seqOf(seq),
      stream: streamId(1),
      turn: turnOf(1),
      time: 1_763_230_000_000 + seq * 977,
      actor: "client",
      cause: { type: "request", step: null, reason: note },
      deltas:
        contents.length > 0
          ? contents.map((hash, at) => blockAdded(seq * 100 + at, hash))
          : [tokensCounted(seq)],
    },
    prevHash,
  );
}

function blockAdded(id: number, hash: ContentHash): Delta {
  return {
    type: "block-added",
    block: {
      id: blockId(id),
      kind: "tool-result",
      stream: streamId(1),
      message: messageId(id),
      turn: turnOf(1),
      speaker: "client",
      content: hash,
      anchor: `toolu_${id}`,
      pair: null,
      taint: "untrusted",
      supersedes: null,
      ttl: { at: turnOf(21), spanTurns: 20 },
    },
  };
}

function tokensCounted(seq: number): Delta {
  return { type: "tokens-counted", block: blockId(seq), tokens: { count: seq, exact: false } };
}

export function frames(count: number, options: Partial<FrameOptions> = {}): Frame[] {
  const made: Frame[] = [];
  for (let at = 0; at < count; at++) {
    const seq = (options.seq ?? 1) + at;
    made.push(frame({ ...options, seq, prevHash: made.at(-1)?.hash ?? options.prevHash ?? GENESIS_HASH }));
  }
  return made;
}

export type BodyOptions = {
  readonly session?: SessionId;
  readonly exchange: number;
  readonly side?: ExchangeSide;
  readonly bytes: Uint8Array;
  readonly recipe: readonly RecipePiece[];
};

export function body({ exchange, side = "client-request", bytes, recipe, ...rest }: BodyOptions): Body {
  const hash = hashContent(bytes);
  return { session: rest.session ?? session, exchange, side, hash, length: bytes.length, recipe };
}

export function literal(bytes: Uint8Array): RecipePiece {
  return { from: "literal", bytes };
}

export function slice({ hash, bytes }: HashedContent, start = 0, length = bytes.length): RecipePiece {
  return { from: "content", content: hash, start, length };
}

export function page(text: string): readonly [string, Uint8Array] {
  return [sha256Hex(text).slice(0, 32), new Uint8Array(Buffer.from(text))];
}

export function snapshot(at: Frame, all: readonly string[], brought: readonly string[] = all): Snapshot {
  return {
    session: at.session,
    seq: at.seq,
    hash: at.hash,
    root: JSON.stringify({ seq: at.seq, pages: all }),
    pageHashes: all.map((text) => page(text)[0]),
    pages: new Map(brought.map(page)),
  };
}

/** Appends and waits; a batch that is not accepted gives the same result as one refused later. */
export async function put(store: Store, batch: Batch): Promise<Result<void>> {
  const appended = store.append(batch);
  return appended.accepted ? await appended.durable : appended.refused;
}

export async function mustPut(store: Store, batch: Batch): Promise<void> {
  unwrap(await put(store, batch));
}

export function codeOf(result: Result<unknown>): string {
  return result.ok ? "ok" : result.error.code;
}

/** A folder that is deleted after the tests of the file. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "aperture-store-"));
  folders.push(path);
  return path;
}

const folders: string[] = [];
afterAll(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true });
});
