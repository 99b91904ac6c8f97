import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClientName } from "../launch/client-addresses.ts";
import { stateFolderOf } from "../user-folders.ts";
import type { SystemInfo } from "../verb-call.ts";

/** A file before Aperture wrote to it, and the values it wrote. */
export type FileRecord = {
  readonly path: string;
  /** Null if there was no such file. */
  readonly before: string | null;
  /** The hash of the text that Aperture wrote, to detect later changes. */
  readonly afterHash: string;
  readonly values: readonly {
    readonly path: readonly string[];
    /** The previous value; null if there was none. */
    readonly before: string | null;
    readonly value: string;
  }[];
  readonly form: "json" | "toml" | "env";
};
type RecordSystem = Pick<SystemInfo, "env" | "home">;
export type InstallRecord = { readonly v: 1; readonly url: string; readonly files: readonly FileRecord[] };

/** The backup. Settings of clients may hold keys, so only the user can read it. */
export function recordFileOf(client: ClientName, system: RecordSystem): string {
  return join(stateFolderOf(system), "installed", `${client}.json`);
}

export function readRecord(client: ClientName, system: RecordSystem): InstallRecord | null {
  try {
    const record = JSON.parse(readFileSync(recordFileOf(client, system), "utf8")) as InstallRecord;
    return record.v === 1 && Array.isArray(record.files) ? record : null; // only Aperture writes this file
  } catch {
    return null;
  }
}

export function writeRecord(client: ClientName, system: RecordSystem, record: InstallRecord): void {
  const path = recordFileOf(client, system);
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
}

export function dropRecord(client: ClientName, system: RecordSystem): void {
  rmSync(recordFileOf(client, system), { force: true });
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
