import { isAgentFile, sessionNamed } from "./claude-code.ts";
import { codexMeta } from "./codex.ts";
import { clientOf } from "./read.ts";
import type { TranscriptClient, TranscriptFile } from "./transcript.ts";
import { fieldsOf, parsed, textOf } from "./values.ts";

/** Which session a file belongs to: the one it is, or the one that started it as an agent. */
export type Peeked = { readonly client: TranscriptClient; readonly session: string };

/** From the beginning of a file alone, so that files of one session can be found without reading all. */
export function peekTranscript({ name, text }: TranscriptFile): Peeked | null {
  const client = clientOf(text) ?? (isGeminiObject(text) ? "gemini-cli" : null);
  if (client === null) return null;
  const session = sessionOf(client, { name, text });
  return session === null ? null : { client, session };
}

function sessionOf(client: TranscriptClient, { name, text }: TranscriptFile): string | null {
  const lines = text.split("\n").map((line) => fieldsOf(parsed(line)));
  switch (client) {
    case "claude-code": {
      const first = lines.flatMap((fields) => textOf(fields["sessionId"]) ?? [])[0] ?? null;
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

/** The beginning of one object over many lines is no JSON by itself. */
function isGeminiObject(text: string): boolean {
  const head = text.slice(0, headChars);
  return /^\s*\{/.test(head) && head.includes('"sessionId"') && head.includes('"projectHash"');
}
