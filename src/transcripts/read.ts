import { isClaudeCode, readClaudeCode } from "./claude-code.ts";
import { isCodex, readCodex } from "./codex.ts";
import { isGeminiCli, readGeminiCli } from "./gemini-cli.ts";
import type { Transcript, TranscriptClient, TranscriptFile } from "./transcript.ts";
import { type Fields, fieldsOf, parsed } from "./values.ts";

const readers: Readonly<Record<TranscriptClient, (file: TranscriptFile) => Transcript | null>> = {
  "claude-code": readClaudeCode,
  codex: readCodex,
  "gemini-cli": readGeminiCli,
};

/** A transcript is known by what it says, wherever it lies. Null: it is of no client that is known here. */
export function readTranscript(file: TranscriptFile): Transcript | null {
  const client = clientOf(file.text);
  return client === null ? null : readers[client](file);
}

const linesLookedAt = 50;

export function clientOf(text: string): TranscriptClient | null {
  const firsts = firstLines(text).map((line) => fieldsOf(parsed(line)));
  const known = firsts.flatMap((fields) => clientOfLine(fields) ?? []);
  if (known[0] !== undefined) return known[0];
  // One object over many lines.
  return /^\s*\{/.test(text) && isGeminiCli(fieldsOf(parsed(text))) ? "gemini-cli" : null;
}

function clientOfLine(fields: Fields): TranscriptClient | null {
  if (isGeminiCli(fields)) return "gemini-cli";
  if (isCodex(fields)) return "codex";
  return isClaudeCode(fields) ? "claude-code" : null;
}

function firstLines(text: string): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length && lines.length < linesLookedAt; ) {
    const end = text.indexOf("\n", at);
    lines.push(text.slice(at, end === -1 ? text.length : end));
    at = end === -1 ? text.length : end + 1;
  }
  return lines;
}
