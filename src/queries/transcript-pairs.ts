import type { Part } from "../content/index.ts";
import type { TranscriptRow } from "./answers/context-answers.ts";

/**
 * Makes messages alternate, begin with the user, and pairs every call with its result. Calls and results
 * without a partner are left out, because no provider accepts them.
 */
export function closePairs(parts: readonly TranscriptRow[]): readonly TranscriptRow[] {
  let rows = joinRows(parts);
  for (;;) {
    const closed = joinRows(rows.map((row, at) => closeRow(rows, row, at)));
    if (countOf(closed) === countOf(rows)) return fromUser(closed);
    rows = closed;
  }
}

/** Joins neighbouring messages of one speaker and drops empty ones. */
function joinRows(parts: readonly TranscriptRow[]): readonly TranscriptRow[] {
  const rows: { role: TranscriptRow["role"]; content: Part[] }[] = [];
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

/** Providers want the results first in a message. */
function resultsFirst(content: readonly Part[]): readonly Part[] {
  const isResult = (part: Part): boolean => resultCallId(part) !== null;
  return [...content.filter(isResult), ...content.filter((part) => !isResult(part))];
}

function closeRow(rows: readonly TranscriptRow[], row: TranscriptRow, at: number): TranscriptRow {
  const { role, content } = row;
  if (role === "assistant") {
    const answered = new Set(rows[at + 1]?.content.map(resultCallId));
    return {
      role,
      content: content.filter((part) => callId(part) === null || answered.has(callId(part))),
    };
  }
  const called = new Set(rows[at - 1]?.content.map(callId));
  const seen = new Set<string>();
  const isOpen = (part: Part): boolean => {
    const id = resultCallId(part);
    if (id === null) return true;
    const isFirst = called.has(id) && !seen.has(id);
    seen.add(id);
    return isFirst;
  };
  return { role, content: content.filter(isOpen) };
}

function fromUser(rows: readonly TranscriptRow[]): readonly TranscriptRow[] {
  return rows[0]?.role === "assistant" ? fromUser(closePairs(rows.slice(1))) : rows;
}

function countOf(rows: readonly TranscriptRow[]): number {
  return rows.reduce((sum, { content }) => sum + content.length, 0);
}

function callId(part: Part): string | null {
  return part.type === "call" ? part.id : null;
}

function resultCallId(part: Part): string | null {
  return part.type === "result" ? part.callId : null;
}
