import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Environment } from "../../config/index.ts";
import { peekTranscript, type TranscriptIdentity } from "../../transcripts/index.ts";
import { errorCode } from "../outcome.ts";
import type { VerbCall } from "../verb-call.ts";

/** A transcript file and the session it belongs to. */
export type FoundTranscript = {
  readonly path: string;
  readonly bytes: number;
  readonly changedMs: number;
  readonly identity: TranscriptIdentity;
};

/** The files of one session, sorted by name, and the latest change of any of them. */
export type TranscriptSession = { readonly files: readonly FoundTranscript[]; readonly changedMs: number };

export type TranscriptSearch = {
  readonly sessions: readonly TranscriptSession[];
  /** Paths that do not exist or cannot be read. */
  readonly unread: readonly { readonly path: string; readonly problem: string }[];
};

/** Inspects the start of every file that may be a transcript. The newest session comes first. */
function findSessions(paths: readonly string[], isNamed: boolean): TranscriptSearch {
  const unread: { path: string; problem: string }[] = [];
  const sessions = new Map<string, FoundTranscript[]>();
  for (const path of new Set(paths.flatMap((named) => transcriptsIn(named, isNamed, unread)))) {
    const found = inspectFile(path, unread);
    if (found === null && isNamed && paths.includes(path))
      unread.push({ path, problem: "not a transcript of a known client" });
    if (found === null) continue;
    const key = `${found.identity.client} ${found.identity.session}`;
    sessions.set(key, [...(sessions.get(key) ?? []), found]);
  }
  const grouped = [...sessions.values()].map((files) => ({
    files,
    changedMs: files.reduce((latest, { changedMs }) => Math.max(latest, changedMs), 0),
  }));
  return { sessions: grouped.sort((a, b) => b.changedMs - a.changedMs), unread };
}

type UnreadFiles = { path: string; problem: string }[];

/**
 * The files in a folder that a client may have written. A file that the user named is taken whatever its
 * name.
 */
function transcriptsIn(path: string, isNamed: boolean, unread: UnreadFiles): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path, { recursive: true, encoding: "utf8", withFileTypes: true });
    const files = names.filter((entry) => entry.isFile() && isTranscriptName(entry.name));
    return files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  } catch (error) {
    // A client that was never used has no folder.
    if (isNamed || errorCode(error) !== "ENOENT") unread.push({ path, problem: errorText(errorCode(error)) });
    return [];
  }
}

/** A file that Claude Code writes for its own compaction is not a conversation. */
function isTranscriptName(name: string): boolean {
  return /\.jsonl$|^session-.*\.json$/.test(name) && !name.startsWith("agent-acompact-");
}

/** The first lines of a Codex transcript hold all its instructions. */
const peekBytes = 256 * 1024;

function inspectFile(path: string, unread: UnreadFiles): FoundTranscript | null {
  try {
    const { size, mtimeMs } = statSync(path);
    const bytes = Buffer.alloc(Math.min(size, peekBytes));
    const file = openSync(path, "r");
    const length = readSync(file, bytes);
    closeSync(file);
    const identity = peekTranscript({ name: path, text: bytes.toString("utf8", 0, length) });
    return identity === null ? null : { path, bytes: size, changedMs: mtimeMs, identity };
  } catch (error) {
    unread.push({ path, problem: errorCode(error) });
    return null;
  }
}

function errorText(code: string): string {
  return code === "ENOENT" ? "it does not exist" : code;
}

/** The sessions whose transcripts the user named, else those of all clients. Reports if there are none. */
export function chosenSessions(
  { operands, screen, system }: VerbCall,
  verb: "analyze" | "import",
): readonly TranscriptSession[] {
  const isNamed = operands.length > 0;
  const paths = isNamed
    ? operands.map((path) => resolve(system.cwd, path))
    : transcriptFolders(system.env, system.home);
  const { sessions, unread } = findSessions(paths, isNamed);
  for (const { path, problem } of unread) screen.err(`${path}: ${problem}`);
  if (sessions.length === 0) {
    const where = paths.join(", ");
    screen.err(`No transcript found in ${where}. Name a file or a folder: aperture ${verb} FILE`);
  }
  return sessions;
}

/** The folders in which clients keep their transcripts. */
function transcriptFolders(env: Environment, home: string): readonly string[] {
  const folderOf = (variable: string, folder: string): string => env[variable] || join(home, folder);
  const codex = folderOf("CODEX_HOME", ".codex");
  return [
    join(folderOf("CLAUDE_CONFIG_DIR", ".claude"), "projects"),
    join(codex, "sessions"),
    join(codex, "archived_sessions"),
    join(home, ".gemini", "tmp"),
  ];
}
