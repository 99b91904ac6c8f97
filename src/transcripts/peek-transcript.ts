import { isAgentFile, sessionNamed } from "./claude-code-transcript.ts";
import type { TranscriptClient, TranscriptText } from "./client-transcript.ts";
import { codexMeta } from "./codex-transcript.ts";
import { transcriptClientOf } from "./read-transcript.ts";
import { parseJson, stringOf, transcriptFields } from "./transcript-values.ts";

/** The session a file belongs to: its own, or the one that started it as an agent. */
export type TranscriptIdentity = { readonly client: TranscriptClient; readonly session: string };

/**
 * Reads only the beginning of a file, so that the files of one session are found without reading them all.
 */
export function peekTranscript({ name, text }: TranscriptText): TranscriptIdentity | null {
  const client = transcriptClientOf(text) ?? (isGeminiObject(text) ? "gemini-cli" : null);
  if (client === null) return null;
  const session = sessionOf(client, { name, text });
  return session === null ? null : { client, session };
}

function sessionOf(client: TranscriptClient, { name, text }: TranscriptText): string | null {
  const lines = text.split("\n").map((line) => transcriptFields(parseJson(line)));
  switch (client) {
    case "claude-code": {
      const first = lines.flatMap((fields) => stringOf(fields["sessionId"]) ?? [])[0] ?? null;
      return isAgentFile(name) ? first : (sessionNamed(name) ?? first);
    }
    case "codex": {
      const meta = lines.map(codexMeta).find((found) => found !== null);
      return meta?.parent ?? meta?.session ?? null;
    }
    case "gemini-cli": {
      const isAgent = /"kind"\s*:\s*"subagent"/.test(text.slice(0, headChars));
      const parent = name.split(/[/\\]/).at(-2) ?? null;
      return isAgent ? parent : (/"sessionId"\s*:\s*"([^"]+)"/.exec(text)?.[1] ?? null);
    }
  }
}

const headChars = 2_000;

/** The beginning of an object over many lines is not valid JSON, so it is recognised by its text. */
function isGeminiObject(text: string): boolean {
  const head = text.slice(0, headChars);
  return /^\s*\{/.test(head) && head.includes('"sessionId"') && head.includes('"projectHash"');
}
