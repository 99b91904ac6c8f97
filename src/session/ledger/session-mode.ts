import type { Line } from "./line.ts";

/** Whether the user wants a stream left alone; one that nobody has told of yet goes by the others. */
export function isObserved(line: Line, lines: Iterable<Line>): boolean {
  if (line.briefing !== null) return line.briefing.mode === "observe";
  for (const { session, briefing } of lines) {
    if (session === line.session && briefing !== null) return briefing.mode === "observe";
  }
  return false;
}
