import type { ProblemList } from "./client-transcript.ts";
import { parseJson, type TranscriptFields, transcriptFields } from "./transcript-values.ts";

/** A line that holds an object, and its number from 1. */
export type JsonLine = { readonly fields: TranscriptFields; readonly line: number };

/**
 * Reads JSON lines. A last line that is cut off, because the client still writes or was killed, is a problem
 * too.
 */
export function readJsonLines(text: string, problems: ProblemList): readonly JsonLine[] {
  return text.split("\n").flatMap((line, at) => {
    if (line.trim() === "") return [];
    const value = parseJson(line);
    if (value === undefined) problems.add("lines that are no JSON", at + 1);
    return value === undefined ? [] : [{ fields: transcriptFields(value), line: at + 1 }];
  });
}
