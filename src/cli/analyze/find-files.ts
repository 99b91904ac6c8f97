import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Peeked, peekTranscript } from "../../transcripts/index.ts";

/** A transcript that was found, and the session it belongs to. */
export type FoundFile = {
  readonly path: string;
  readonly bytes: number;
  readonly changedMs: number;
  readonly of: Peeked;
};

/** Files of one session, in the order of their names; the latest change of any of them. */
export type FoundSession = { readonly files: readonly FoundFile[]; readonly changedMs: number };

export type Finding = {
  readonly sessions: readonly FoundSession[];
  /** What was named and is not there, or cannot be read. */
  readonly unread: readonly { readonly path: string; readonly problem: string }[];
};

/** Looks at the beginning of every file that may be a transcript. The newest session comes first. */
export function findSessions(places: readonly string[], isNamed: boolean): Finding {
  const unread: { path: string; problem: string }[] = [];
  const sessions = new Map<string, FoundFile[]>();
  for (const path of new Set(places.flatMap((place) => filesIn(place, isNamed, unread)))) {
    const found = lookAt(path, unread);
    if (found === null && isNamed && places.includes(path))
      unread.push({ path, problem: "it is no transcript of a client that is known here" });
    if (found === null) continue;
    const key = `${found.of.client} ${found.of.session}`;
    sessions.set(key, [...(sessions.get(key) ?? []), found]);
  }
  const grouped = [...sessions.values()].map((files) => ({
    files,
    changedMs: files.reduce((latest, { changedMs }) => Math.max(latest, changedMs), 0),
  }));
  return { sessions: grouped.sort((a, b) => b.changedMs - a.changedMs), unread };
}

type Unread = { path: string; problem: string }[];

/** Files that a client may have written; of a file that was named, that one whatever it is called. */
function filesIn(place: string, isNamed: boolean, unread: Unread): readonly string[] {
  try {
    if (!statSync(place).isDirectory()) return [place];
    const names = readdirSync(place, { recursive: true, encoding: "utf8", withFileTypes: true });
    const files = names.filter((entry) => entry.isFile() && isTranscriptName(entry.name));
    return files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  } catch (error) {
    // A client that was never used has no folder.
    if (isNamed || codeOf(error) !== "ENOENT") unread.push({ path: place, problem: wordsOf(codeOf(error)) });
    return [];
  }
}

/** What Claude Code writes when it makes room is no talk of its own. */
function isTranscriptName(name: string): boolean {
  return /\.jsonl$|^session-.*\.json$/.test(name) && !name.startsWith("agent-acompact-");
}

/** The first lines of Codex hold all its instructions. */
const peekBytes = 256 * 1024;

function lookAt(path: string, unread: Unread): FoundFile | null {
  try {
    const { size, mtimeMs } = statSync(path);
    const bytes = Buffer.alloc(Math.min(size, peekBytes));
    const file = openSync(path, "r");
    const length = readSync(file, bytes);
    closeSync(file);
    const of = peekTranscript({ name: path, text: bytes.toString("utf8", 0, length) });
    return of === null ? null : { path, bytes: size, changedMs: mtimeMs, of };
  } catch (error) {
    unread.push({ path, problem: codeOf(error) });
    return null;
  }
}

function wordsOf(code: string): string {
  return code === "ENOENT" ? "it is not there" : code;
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? `${error.code}` : "unknown error";
}
