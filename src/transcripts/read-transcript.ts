import { isClaudeCode, readClaudeCode } from "./claude-code-transcript.ts";
import type { Transcript, TranscriptClient, TranscriptText } from "./client-transcript.ts";
import { isCodex, readCodex } from "./codex-transcript.ts";
import { isGeminiCli, readGeminiCli } from "./gemini-cli-transcript.ts";
import { parseJson, type TranscriptFields, transcriptFields } from "./transcript-values.ts";

const readers: Readonly<Record<TranscriptClient, (file: TranscriptText) => Transcript | null>> = {
  "claude-code": readClaudeCode,
  codex: readCodex,
  "gemini-cli": readGeminiCli,
};

/**
 * Reads a transcript; its client is recognised by the content, not by the path. Null if it is no known
 * client.
 */
export function readTranscript(file: TranscriptText): Transcript | null {
  const client = transcriptClientOf(file.text);
  return client === null ? null : readers[client](file);
}

const firstLinesMax = 50;

export function transcriptClientOf(text: string): TranscriptClient | null {
  const firsts = firstLines(text).map((line) => transcriptFields(parseJson(line)));
  const known = firsts.flatMap((fields) => clientOfLine(fields) ?? []);
  if (known[0] !== undefined) return known[0];
  // The file may be one object over many lines.
  return /^\s*\{/.test(text) && isGeminiCli(transcriptFields(parseJson(text))) ? "gemini-cli" : null;
}

function clientOfLine(fields: TranscriptFields): TranscriptClient | null {
  if (isGeminiCli(fields)) return "gemini-cli";
  if (isCodex(fields)) return "codex";
  return isClaudeCode(fields) ? "claude-code" : null;
}

function firstLines(text: string): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length && lines.length < firstLinesMax; ) {
    const end = text.indexOf("\n", at);
    lines.push(text.slice(at, end === -1 ? text.length : end));
    at = end === -1 ? text.length : end + 1;
  }
  return lines;
}
