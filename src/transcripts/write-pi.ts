import { sha256Hex } from "../base/index.ts";
import { type MessagePart, messageParts } from "./message-parts.ts";
import {
  isoTime,
  type TranscriptFormat,
  type TranscriptTarget,
  toJsonLines,
  type WritableMessage,
} from "./written-transcript.ts";

/** The version of the format. */
const version = 3;

/** Entries that name the previous one: `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`. */
export const piFormat: TranscriptFormat = {
  folder: { variable: "PI_CODING_AGENT_DIR", usual: [".pi", "agent"] },
  write: ({ rows, model }, target) => {
    const { id, cwd } = target;
    const names = new Map<string, string>();
    const messages = rows.flatMap((row) => messagesOf(row, { model: model ?? "unknown", names }));
    const start = isoTime(target, 0);
    const entries = messages.map((message, at) => ({
      type: "message",
      id: entryId(target, at),
      parentId: at === 0 ? null : entryId(target, at - 1),
      timestamp: isoTime(target, at + 1),
      message: { ...message, timestamp: target.timeMs + at + 1 },
    }));
    const file = ["sessions", folderName(cwd), `${start.replace(/[:.]/g, "-")}_${id}.jsonl`];
    const header = { type: "session", version, id, timestamp: start, cwd };
    return { file, text: toJsonLines([header, ...entries]), resume: (path) => `pi --session ${path}` };
  },
};

function folderName(cwd: string): string {
  return `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;
}

function entryId({ id }: TranscriptTarget, at: number): string {
  return sha256Hex(`${id} ${at}`).slice(0, 8);
}

type PiMessageInput = {
  readonly model: string;
  /** The names of called tools by call id: here a result names its tool. */
  readonly names: Map<string, string>;
};

function messagesOf(row: WritableMessage, { model, names }: PiMessageInput): readonly object[] {
  const parts = messageParts(row);
  if (row.role === "user") return userMessages(parts, names);
  for (const part of parts) if (part.type === "call") names.set(part.id, part.name);
  const isCall = parts.some(({ type }) => type === "call");
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: noCost };
  const source = { api: "anthropic-messages", provider: "anthropic", model, usage };
  const content = parts.flatMap(assistantPart);
  return [{ role: "assistant", content, ...source, stopReason: isCall ? "toolUse" : "stop" }];
}

const noCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

function assistantPart(part: MessagePart): readonly object[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type !== "call") return [];
  return [{ type: "toolCall", id: part.id, name: part.name, arguments: part.input }];
}

/** Each result is a message of its own, before the user's text. */
function userMessages(parts: readonly MessagePart[], names: ReadonlyMap<string, string>): readonly object[] {
  const results = parts.flatMap((part) =>
    part.type !== "result"
      ? []
      : {
          role: "toolResult",
          toolCallId: part.call,
          toolName: names.get(part.call) ?? "unknown",
          content: [{ type: "text", text: part.text }],
          isError: part.isError,
        },
  );
  const content = parts.flatMap((part): readonly object[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "picture" ? [{ type: "image", data: part.data, mimeType: part.media }] : [];
  });
  return content.length === 0 ? results : [...results, { role: "user", content }];
}
