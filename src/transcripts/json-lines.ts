import type { ProblemList } from "./transcript.ts";
import { type Fields, fieldsOf, parsed } from "./values.ts";

/** A line that holds an object, and its number from 1. */
export type JsonLine = { readonly fields: Fields; readonly line: number };

/** A last line that was cut off, by a client that still writes or was ended, is told like any other. */
export function jsonLines(text: string, problems: ProblemList): readonly JsonLine[] {
  return text.split("\n").flatMap((line, at) => {
    if (line.trim() === "") return [];
    const value = parsed(line);
    if (value === undefined) problems.add("lines that are no JSON", at + 1);
    return value === undefined ? [] : [{ fields: fieldsOf(value), line: at + 1 }];
  });
}
