import type { Json } from "../../base/index.ts";
import type { TranscriptRow } from "./transcript-rows.ts";

type Fields = { readonly [key: string]: Json };

/**
 * Messages in turn, from the user's first, each call followed by its result: whatever cannot be closed is
 * left out, since no provider takes it.
 */
export function closedRows(parts: readonly TranscriptRow[]): readonly TranscriptRow[] {
  let rows = joinedRows(parts);
  for (;;) {
    const closed = joinedRows(rows.map((row, at) => closedRow(rows, row, at)));
    if (countOf(closed) === countOf(rows)) return fromUser(closed);
    rows = closed;
  }
}

/** What one speaker says in a row is one message; what says nothing is none. */
function joinedRows(parts: readonly TranscriptRow[]): readonly TranscriptRow[] {
  const rows: { role: TranscriptRow["role"]; content: Json[] }[] = [];
  for (const { role, content } of parts) {
    if (content.length === 0) continue;
    const last = rows.at(-1);
    if (last?.role === role) last.content.push(...content);
    else rows.push({ role, content: [...content] });
  }
  return rows.map(({ role, content }) => ({
    role,
    content: role === "user" ? resultsFirst(content) : content,
  }));
}

/** Nothing may stand before the results of a message. */
function resultsFirst(content: readonly Json[]): readonly Json[] {
  const isResult = (part: Json): boolean => answeredBy(part) !== null;
  return [...content.filter(isResult), ...content.filter((part) => !isResult(part))];
}

function closedRow(rows: readonly TranscriptRow[], row: TranscriptRow, at: number): TranscriptRow {
  const { role, content } = row;
  if (role === "assistant") {
    const answered = new Set(rows[at + 1]?.content.map(answeredBy));
    return {
      role,
      content: content.filter((part) => calledBy(part) === null || answered.has(calledBy(part))),
    };
  }
  const called = new Set(rows[at - 1]?.content.map(calledBy));
  const seen = new Set<string>();
  const isOpen = (part: Json): boolean => {
    const id = answeredBy(part);
    if (id === null) return true;
    const isFirst = called.has(id) && !seen.has(id);
    seen.add(id);
    return isFirst;
  };
  return { role, content: content.filter(isOpen) };
}

function fromUser(rows: readonly TranscriptRow[]): readonly TranscriptRow[] {
  return rows[0]?.role === "assistant" ? fromUser(closedRows(rows.slice(1))) : rows;
}

function countOf(rows: readonly TranscriptRow[]): number {
  return rows.reduce((sum, { content }) => sum + content.length, 0);
}

function calledBy(part: Json): string | null {
  return idIn(part, "tool_use", "id");
}

function answeredBy(part: Json): string | null {
  return idIn(part, "tool_result", "tool_use_id");
}

function idIn(part: Json, type: string, name: string): string | null {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return null;
  const { type: own, [name]: id } = part as Fields;
  return own === type && typeof id === "string" ? id : null;
}
