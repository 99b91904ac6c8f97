import { ok, type Result, unreachable } from "../base/index.ts";
import { readBodies, readBody } from "./body-table.ts";
import { readContent } from "./content-table.ts";
import type { Database } from "./database.ts";
import { faultOf } from "./database-faults.ts";
import { readFrames, readSessionHead, readSessionHeads } from "./frame-table.ts";
import { readSnapshot } from "./snapshot-table.ts";
import type { StoreRead } from "./store-messages.ts";

/** Answers a read, and turns anything the database throws into the matching error. */
export function runRead(db: Database, read: StoreRead): Result<unknown> {
  try {
    return readFrom(db, read);
  } catch (error) {
    return { ok: false, error: faultOf(error, db.path).error };
  }
}

function readFrom(db: Database, read: StoreRead): Result<unknown> {
  switch (read.type) {
    case "sessions":
      return ok(readSessionHeads(db));
    case "head":
      return ok(readSessionHead(db, read.session));
    case "frames":
      return readFrames(db, read.range);
    case "content":
      return readContent(db, read.hash);
    case "body":
      return readBody(db, read.key);
    case "bodies":
      return ok(readBodies(db, read.session));
    case "snapshot":
      return ok(readSnapshot(db, read.session));
    default:
      return unreachable(read);
  }
}
