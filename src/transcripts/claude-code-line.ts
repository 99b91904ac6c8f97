import type { ProblemList } from "./client-transcript.ts";
import type { JsonLine } from "./json-lines.ts";
import type { RecordedBlock, RecordedUsage } from "./session-recording.ts";
import { countOf, jsonList, stringOf, type TranscriptFields, transcriptFields } from "./transcript-values.ts";

/** A line of Claude Code that is part of a conversation. */
export type ClaudeLine = {
  readonly line: number;
  readonly id: string;
  readonly parent: string | null;
  readonly session: string | null;
  readonly isSide: boolean;
  readonly agent: string | null;
  readonly project: string | null;
  readonly time: string | null;
  /** Null if the line only links others. */
  readonly content: string | readonly RecordedBlock[] | null;
  /** The id of the answer it belongs to. Null if the line is the client's. */
  readonly answer: string | null;
  readonly model: string | null;
  readonly usage: RecordedUsage | null;
  readonly calls: readonly string[];
  readonly results: readonly string[];
};

/** Types of lines that the client keeps for itself and never sends to the model. */
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

export function readClaudeLine({ fields, line }: JsonLine, problems: ProblemList): readonly ClaudeLine[] {
  const type = stringOf(fields["type"]) ?? "";
  const isMessage = type === "user" || type === "assistant";
  if (!isMessage && !bookkeeping.has(type)) problems.add(unknownLine(type), line);
  const id = stringOf(fields["uuid"]);
  if (id === null) {
    if (isMessage) problems.add("messages without an id", line);
    return [];
  }
  return [{ ...linkOf(fields, id), line, ...(isMessage ? lineContent(fields, type, id) : noContent) }];
}

function unknownLine(type: string): string {
  if (type === "attachment") return "attachments, which the client sends in a form it does not write down";
  return `lines of a kind nobody knows: ${JSON.stringify(type.slice(0, 40))}`;
}

function linkOf(fields: TranscriptFields, id: string) {
  return {
    id,
    parent: stringOf(fields["parentUuid"]),
    session: stringOf(fields["sessionId"]),
    isSide: fields["isSidechain"] === true,
    agent: stringOf(fields["agentId"]),
    project: stringOf(fields["cwd"]),
    time: stringOf(fields["timestamp"]),
  };
}

type LineContent = Pick<ClaudeLine, "content" | "answer" | "model" | "usage" | "calls" | "results">;

const noContent: LineContent = {
  content: null,
  answer: null,
  model: null,
  usage: null,
  calls: [],
  results: [],
};

function lineContent(fields: TranscriptFields, type: string, id: string): LineContent {
  const message = transcriptFields(fields["message"]);
  const content = contentOf(message["content"]);
  const blocks = typeof content === "string" || content === null ? [] : content;
  if (type === "user") {
    return { ...noContent, content, results: idsOf(blocks, "tool_result", "tool_use_id") };
  }
  const model = stringOf(message["model"]);
  // The client wrote this itself in place of an answer that never came.
  if (model === "<synthetic>" || fields["isApiErrorMessage"] === true) return noContent;
  const answer = stringOf(message["id"]) ?? id;
  const usage = usageOf(message["usage"]);
  return { content, answer, model, usage, calls: idsOf(blocks, "tool_use", "id"), results: [] };
}

function contentOf(content: unknown): ClaudeLine["content"] {
  if (typeof content === "string") return content;
  const blocks = jsonList(content).filter((block) => stringOf(transcriptFields(block)["type"]) !== null);
  return blocks.length === 0 ? null : (blocks as readonly RecordedBlock[]);
}

function idsOf(blocks: readonly RecordedBlock[], type: string, field: string): readonly string[] {
  return blocks.flatMap((block) => (block.type === type ? (stringOf(block[field]) ?? []) : []));
}

function usageOf(value: unknown): RecordedUsage | null {
  const usage = transcriptFields(value);
  if (usage["input_tokens"] === undefined && usage["output_tokens"] === undefined) return null;
  return {
    in: countOf(usage["input_tokens"]),
    cr: countOf(usage["cache_read_input_tokens"]),
    cw: countOf(usage["cache_creation_input_tokens"]),
    out: countOf(usage["output_tokens"]),
  };
}
