// What a power cut leaves of a database. A child is watched by strace: every write to its files and every
// sync is noted, in order, together with what the child said. At any of these moments the files can then be
// made as a disk would have them that lost what was not synced, or any part of it.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Random } from "../../src/base/index.ts";

export type Step =
  | { readonly type: "write"; readonly file: string; readonly at: number; readonly bytes: Buffer }
  | { readonly type: "truncate"; readonly file: string; readonly length: number }
  | { readonly type: "sync"; readonly file: string }
  | { readonly type: "remove"; readonly file: string }
  | { readonly type: "said"; readonly text: string };

/** The file into which a child writes what it says, so that its words stand among its writes. */
export const reportFile = "said";

const calls = "pwrite64,write,fsync,fdatasync,ftruncate,unlink";

/** Runs a Node program to its end, watched. Its files are those of the database, and what it says. */
export function watchedRun(script: string, args: readonly string[], database: string): readonly Step[] {
  const trace = `${database}.trace`;
  const said = join(database, "..", reportFile);
  const files = [database, `${database}-wal`, `${database}-journal`, said].flatMap((path) => ["-P", path]);
  const how = ["-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-s", "10000000", "-e", `trace=${calls}`];
  const options = { encoding: "utf8", maxBuffer: 1e8 } as const;
  const run = spawnSync(
    "strace",
    [...how, ...files, "-o", trace, process.execPath, script, ...args],
    options,
  );
  if (run.status !== 0) throw new Error(`the watched program ended with ${run.status}: ${run.stderr}`);
  return stepsIn(readFileSync(trace, "latin1"));
}

/** Calls that took a while are in two lines; what they did was done when the second was written. */
export function stepsIn(trace: string): readonly Step[] {
  const begun = new Map<string, string>();
  const steps: Step[] = [];
  for (const line of trace.split("\n")) {
    const [, thread = "", text = ""] = /^(\d+) +(.*)$/s.exec(line) ?? [];
    const unfinished = text.indexOf(" <unfinished ...>");
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(text)?.[1];
    if (unfinished >= 0) begun.set(thread, text.slice(0, unfinished));
    else {
      const step = stepOf(resumed === undefined ? text : `${begun.get(thread) ?? ""}${resumed}`);
      if (step !== null) steps.push(step);
    }
  }
  return steps;
}

function stepOf(call: string): Step | null {
  const [, name = "", args = "", result = ""] = /^(\w+)\((.*)\)\s+= (-?\d+)/s.exec(call) ?? [];
  if (name === "" || Number(result) < 0) return null;
  const file = basename(unescaped(/<([^>]*)>/.exec(args)?.[1] ?? ""));
  const text = /"([^"]*)"/.exec(args)?.[1] ?? "";
  const numbers = args.split(",").map(Number);
  switch (name) {
    case "unlink":
      return { type: "remove", file: basename(unescaped(text)) };
    case "fsync":
    case "fdatasync":
      return { type: "sync", file };
    case "ftruncate":
      return { type: "truncate", file, length: numbers[1] ?? 0 };
    case "pwrite64":
      return {
        type: "write",
        file,
        at: numbers.at(-1) ?? 0,
        bytes: bytesOf(text).subarray(0, Number(result)),
      };
    default:
      return file === reportFile ? { type: "said", text: unescaped(text) } : null;
  }
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}

function unescaped(text: string): string {
  return bytesOf(text).toString("utf8");
}

type Page = { readonly at: number; readonly bytes: Buffer };
type Change = { readonly truncate: number } | Page;
type Disk = { bytes: Buffer; unsynced: Change[] };

/** What of the pages that were not synced is there nevertheless: none, all, or whichever chance wants. */
export type Left = "none" | "all" | Random;

const pageBytes = 4096;

/** A disk that is told what was written, up to the cut. Names of files are on it as soon as they are made. */
export class CutDisk {
  readonly #files = new Map<string, Disk>();

  take(step: Step): void {
    if (step.type === "said") return;
    if (step.type === "remove") this.#files.delete(step.file);
    else if (step.type === "sync") this.#sync(step.file);
    else if (step.type === "truncate") this.#file(step.file).unsynced.push({ truncate: step.length });
    else this.#file(step.file).unsynced.push(...pagesOf(step));
  }

  /** Writes the files as they are found when the power is back. */
  leave(folder: string, left: Left): void {
    for (const [name, { bytes, unsynced }] of this.#files) {
      const survive = left === "none" ? [] : unsynced.filter(() => left === "all" || left.below(2) === 0);
      writeFileSync(join(folder, name), survive.reduce(changed, bytes));
    }
  }

  #file(name: string): Disk {
    const known = this.#files.get(name) ?? { bytes: Buffer.alloc(0), unsynced: [] };
    this.#files.set(name, known);
    return known;
  }

  #sync(name: string): void {
    const file = this.#files.get(name);
    if (file === undefined) return;
    file.bytes = file.unsynced.reduce(changed, file.bytes);
    file.unsynced = [];
  }
}

/** A write reaches the disk page by page. */
function pagesOf({ at, bytes }: Page): readonly Page[] {
  const pages: Page[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + pageBytes - ((at + from) % pageBytes));
    pages.push({ at: at + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return pages;
}

function changed(bytes: Buffer, change: Change): Buffer {
  if ("truncate" in change) return Buffer.concat([bytes.subarray(0, change.truncate)], change.truncate);
  const next = Buffer.alloc(Math.max(bytes.length, change.at + change.bytes.length));
  bytes.copy(next);
  change.bytes.copy(next, change.at);
  return next;
}
