import type { JsonLine } from "./json-lines.ts";
import type { WireBlock, WireUsage } from "./recording.ts";
import type { ProblemList } from "./transcript.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf } from "./values.ts";

/** A line of Claude Code, as far as it is part of a talk. */
export type ClaudeLine = {
  readonly line: number;
  readonly id: string;
  readonly parent: string | null;
  readonly session: string | null;
  readonly isSide: boolean;
  readonly agent: string | null;
  readonly project: string | null;
  readonly time: string | null;
  /** What it says; null: a link between others that says nothing. */
  readonly content: string | readonly WireBlock[] | null;
  /** The id of the answer it belongs to; null: it is the client's. */
  readonly answer: string | null;
  readonly model: string | null;
  readonly usage: WireUsage | null;
  readonly calls: readonly string[];
  readonly results: readonly string[];
};

/** What the client notes for itself. The model was sent none of it. */
const bookkeeping = new Set([
  "agent-name",
  "agent-setting",
  "ai-title",
  "attribution-snapshot",
  "content-replacement",
  "custom-title",
  "file-history-snapshot",
  "last-prompt",
  "marble-origami-commit",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
  "queue-operation",
  "saved_hook_context",
  "speculation-accept",
  "summary",
  "system",
  "tag",
  "task-summary",
  "worktree-state",
]);

export function readLine({ fields, line }: JsonLine, problems: ProblemList): readonly ClaudeLine[] {
  const type = textOf(fields["type"]) ?? "";
  const isSaid = type === "user" || type === "assistant";
  if (!isSaid && !bookkeeping.has(type)) problems.add(unknownLine(type), line);
  const id = textOf(fields["uuid"]);
  if (id === null) {
    if (isSaid) problems.add("messages without an id", line);
    return [];
  }
  return [{ ...linkOf(fields, id), line, ...(isSaid ? saidOf(fields, type, id) : nothingSaid) }];
}

function unknownLine(type: string): string {
  if (type === "attachment") return "attachments, which the client sends in a form it does not write down";
  return `lines of a kind nobody knows: ${JSON.stringify(type.slice(0, 40))}`;
}

function linkOf(fields: Fields, id: string) {
  return {
    id,
    parent: textOf(fields["parentUuid"]),
    session: textOf(fields["sessionId"]),
    isSide: fields["isSidechain"] === true,
    agent: textOf(fields["agentId"]),
    project: textOf(fields["cwd"]),
    time: textOf(fields["timestamp"]),
  };
}

type Said = Pick<ClaudeLine, "content" | "answer" | "model" | "usage" | "calls" | "results">;

const nothingSaid: Said = { content: null, answer: null, model: null, usage: null, calls: [], results: [] };

function saidOf(fields: Fields, type: string, id: string): Said {
  const message = fieldsOf(fields["message"]);
  const content = contentOf(message["content"]);
  const blocks = typeof content === "string" || content === null ? [] : content;
  if (type === "user") {
    return { ...nothingSaid, content, results: idsOf(blocks, "tool_result", "tool_use_id") };
  }
  const model = textOf(message["model"]);
  // Written by the client itself, in place of an answer that never came.
  if (model === "<synthetic>" || fields["isApiErrorMessage"] === true) return nothingSaid;
  const answer = textOf(message["id"]) ?? id;
  const usage = usageOf(message["usage"]);
  return { content, answer, model, usage, calls: idsOf(blocks, "tool_use", "id"), results: [] };
}

function contentOf(content: unknown): ClaudeLine["content"] {
  if (typeof content === "string") return content;
  const blocks = listOf(content).filter((block) => textOf(fieldsOf(block)["type"]) !== null);
  return blocks.length === 0 ? null : (blocks as readonly WireBlock[]);
}

function idsOf(blocks: readonly WireBlock[], type: string, field: string): readonly string[] {
  return blocks.flatMap((block) => (block.type === type ? (textOf(block[field]) ?? []) : []));
}

function usageOf(value: unknown): WireUsage | null {
  const usage = fieldsOf(value);
  if (usage["input_tokens"] === undefined && usage["output_tokens"] === undefined) return null;
  return {
    in: countOf(usage["input_tokens"]),
    cr: countOf(usage["cache_read_input_tokens"]),
    cw: countOf(usage["cache_creation_input_tokens"]),
    out: countOf(usage["output_tokens"]),
  };
}
