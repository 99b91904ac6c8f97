import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "../call.ts";
import type { ClientName } from "../launch/wiring.ts";
import { stateFolderOf } from "../places.ts";

/** One file as it was before we wrote to it, and what we wrote. */
export type FileRecord = {
  readonly path: string;
  /** Null: there was no such file. */
  readonly before: string | null;
  /** Of what we wrote, to know whether somebody has written since. */
  readonly afterHash: string;
  readonly values: readonly {
    readonly path: readonly string[];
    /** What stood there before; null: nothing. */
    readonly before: string | null;
    readonly value: string;
  }[];
  readonly form: "json" | "toml" | "env";
};
export type InstallRecord = { readonly v: 1; readonly url: string; readonly files: readonly FileRecord[] };

type Place = Pick<World, "env" | "home">;

/** The backup: files of clients may hold keys, so it is for its user alone. */
export function recordFileOf(client: ClientName, place: Place): string {
  return join(stateFolderOf(place), "installed", `${client}.json`);
}

export function readRecord(client: ClientName, place: Place): InstallRecord | null {
  try {
    const record = JSON.parse(readFileSync(recordFileOf(client, place), "utf8")) as InstallRecord;
    return record.v === 1 && Array.isArray(record.files) ? record : null; // our own file, for its user alone
  } catch {
    return null;
  }
}

export function writeRecord(client: ClientName, place: Place, record: InstallRecord): void {
  const path = recordFileOf(client, place);
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
}

export function dropRecord(client: ClientName, place: Place): void {
  rmSync(recordFileOf(client, place), { force: true });
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
