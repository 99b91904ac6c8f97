import { ok, type Result, unreachable } from "../base/index.ts";
import { readBodies, readBody } from "./body-table.ts";
import { readContent } from "./content-table.ts";
import type { Database } from "./database.ts";
import { faultOf } from "./faults.ts";
import { readFrames, readHead, readHeads } from "./frame-table.ts";
import type { Read } from "./messages.ts";
import { readSnapshot } from "./snapshot-table.ts";

/** Reads, and turns whatever the database throws into the error it stands for. */
export function answerRead(db: Database, read: Read): Result<unknown> {
  try {
    return readFrom(db, read);
  } catch (error) {
    return { ok: false, error: faultOf(error, db.path).error };
  }
}

function readFrom(db: Database, read: Read): Result<unknown> {
  switch (read.type) {
    case "sessions":
      return ok(readHeads(db));
    case "head":
      return ok(readHead(db, read.session));
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
