import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  blockId,
  type FrameHash,
  GENESIS_HASH,
  hashContent,
  seqOf,
  sessionId,
  streamId,
  turnOf,
  unwrap,
} from "../base/index.ts";
import { type Frame, sealFrame } from "../engine/frames/index.ts";
import { appendGroup } from "./append.ts";
import { readBody } from "./body-table.ts";
import { closeQuietly, type Database, openDatabase } from "./database.ts";
import { loadDriver } from "./driver.ts";
import { readFrames, readSessionHead } from "./frame-table.ts";
import { collectGarbage } from "./gc-job.ts";
import type { Batch, Body, HashedContent } from "./store.ts";
import { verifyAll } from "./verify-job.ts";

const folder = mkdtempSync(join(tmpdir(), "aperture-append-"));
const session = sessionId("append");
const opened: Database[] = [];
let files = 0;

afterAll(() => {
  for (const db of opened) closeQuietly(db.sqlite);
  rmSync(folder, { recursive: true });
});

function open(path: string): Database {
  const { database } = openDatabase({ path, driver: loadDriver(), now: () => new Date(0) });
  opened.push(database);
  return database;
}

function freshPath(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

function frame(seq: number, prevHash: FrameHash): Frame {
  const draft = {
    session,
    seq: seqOf(seq),
    stream: streamId(1),
    turn: turnOf(1),
    time: seq,
    actor: "client",
    cause: { type: "request", step: null, reason: "" },
    deltas: [{ type: "tokens-counted", block: blockId(seq), tokens: { count: 1, exact: true } }],
  } as const;
  return sealFrame(draft, prevHash);
}

function content(text: string): HashedContent {
  return { hash: hashContent(text), bytes: Buffer.from(text) };
}

/** A body that is one content. */
function body(exchange: number, { hash, bytes }: HashedContent): Body {
  const recipe = [{ from: "content", content: hash, start: 0, length: bytes.length }] as const;
  return { session, exchange, side: "client-request", hash, length: bytes.length, recipe };
}

function codes(db: Database, batches: readonly Batch[]): readonly (string | null)[] {
  return appendGroup(db, batches).map((result) => (result.ok ? null : result.error.code));
}

function damageIn(db: Database): readonly unknown[] {
  const work = verifyAll(db);
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value.damage;
}

const first = frame(1, GENESIS_HASH);
const second = frame(2, first.hash);
const third = frame(3, second.hash);

describe("the cache of a connection", () => {
  it("is cleared when another connection has written", () => {
    const path = freshPath();
    const [one, two] = [open(path), open(path)];
    const texts = ["a", "b", "c", "d"].map(content);
    const [a, b, c, d] = texts as [HashedContent, HashedContent, HashedContent, HashedContent];
    expect(codes(one, [{ frames: [first], contents: [a], bodies: [body(1, a)] }])).toEqual([null]);
    expect(codes(two, [{ frames: [second], contents: [a, b], bodies: [body(2, b)] }])).toEqual([null]);
    expect(codes(one, [{ frames: [third], contents: [b, c], bodies: [body(3, c), body(4, b)] }])).toEqual([
      null,
    ]);
    expect(codes(two, [{ contents: [d], bodies: [body(5, d)] }])).toEqual([null]);
    expect(readSessionHead(one, session)?.seq).toBe(3);
    expect(Buffer.from(unwrap(readBody(one, body(5, d)))).toString()).toBe("d");
    expect(damageIn(one)).toEqual([]);
  });

  it("is cleared when gc dropped a content", () => {
    const db = open(freshPath());
    const [kept, swept] = [content("kept"), content("swept")];
    expect(codes(db, [{ contents: [kept, swept], bodies: [body(1, kept)] }])).toEqual([null]);
    expect(collectGarbage(db).contents).toBe(1);
    expect(codes(db, [{ bodies: [body(2, swept)] }])).toEqual(["AP_CONTENT_UNKNOWN"]);
    expect(codes(db, [{ contents: [swept], bodies: [body(2, swept)] }])).toEqual([null]);
    expect(damageIn(db)).toEqual([]);
  });

  it("is cleared when a batch was refused", () => {
    const db = open(freshPath());
    const text = content("text");
    const wrong: Body = { ...body(1, text), length: 99 };
    const refused = { frames: [first], contents: [text], bodies: [wrong] };
    expect(codes(db, [refused])).toEqual(["AP_RECIPE_INVALID"]);
    expect(codes(db, [{ bodies: [body(1, text)] }])).toEqual(["AP_CONTENT_UNKNOWN"]);
    expect(codes(db, [{ frames: [second] }])).toEqual(["AP_STORE_GAP"]);
    expect(codes(db, [{ frames: [first], contents: [text], bodies: [body(1, text)] }])).toEqual([null]);
    expect(damageIn(db)).toEqual([]);
  });
});

describe("a group of batches", () => {
  it("loses a refused batch and keeps those before and after it", () => {
    const db = open(freshPath());
    const [a, b, c] = ["a", "b", "c"].map(content) as [HashedContent, HashedContent, HashedContent];
    const group = [
      { frames: [first], contents: [a], bodies: [body(1, a)] },
      { frames: [third], contents: [b], bodies: [body(2, b)] },
      { frames: [second], contents: [c], bodies: [body(3, c)] },
      { bodies: [body(4, b)] },
      { frames: [third], contents: [b], bodies: [body(2, b)] },
    ];
    expect(codes(db, group)).toEqual([null, "AP_STORE_GAP", null, "AP_CONTENT_UNKNOWN", null]);
    expect(unwrap(readFrames(db, { session, after: 0, limit: 9 }))).toEqual([first, second, third]);
    expect(damageIn(db)).toEqual([]);
  });

  it("may be sent twice, and another body under the same key is refused", () => {
    const db = open(freshPath());
    const [a, b] = ["a", "b"].map(content) as [HashedContent, HashedContent];
    const group = [{ frames: [first, second], contents: [a], bodies: [body(1, a)] }];
    expect(codes(db, group)).toEqual([null]);
    expect(codes(db, group)).toEqual([null]);
    expect(codes(db, [{ contents: [b], bodies: [body(1, b)] }])).toEqual(["AP_BODY_EXISTS"]);
    expect(codes(open(db.path), group)).toEqual([null]);
    expect(damageIn(db)).toEqual([]);
  });
});
