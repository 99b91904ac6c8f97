import type { Part, ResultPart } from "../content/index.ts";
import { lostLine, rawOf } from "./message-parts.ts";
import {
  isoTime,
  type TranscriptFormat,
  toJsonLines,
  uuidOf,
  type WritableMessage,
} from "./written-transcript.ts";

/** The version of the format; Claude Code reads what older versions wrote. */
const version = "2.1.197";

/** One line per message, each naming the previous one: `~/.claude/projects/<folder>/<id>.jsonl`. */
export const claudeFormat: TranscriptFormat = {
  folder: { variable: "CLAUDE_CONFIG_DIR", usual: [".claude"] },
  write: ({ rows, model }, target) => {
    const { id, cwd } = target;
    const messages = rows.map(withoutReminders).filter(({ content }) => content.length > 0);
    const lines = messages.map((message, at) => ({
      parentUuid: at === 0 ? null : uuidOf(`${id} ${at - 1}`),
      isSidechain: false,
      userType: "external",
      cwd,
      sessionId: id,
      version,
      gitBranch: "",
      type: message.role,
      message:
        message.role === "user"
          ? { role: message.role, content: message.content.map(blockOf) }
          : answerMessage(message, { id: uuidOf(`${id} ${at}`), model }),
      uuid: uuidOf(`${id} ${at}`),
      timestamp: isoTime(target, at),
    }));
    const file = ["projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"), `${id}.jsonl`];
    return { file, text: toJsonLines(lines), resume: () => `claude --resume ${id}` };
  },
};

type AnswerIdentity = { readonly id: string; readonly model: string | null };

function answerMessage({ content }: WritableMessage, { id, model }: AnswerIdentity): object {
  const isCall = content.some(({ type }) => type === "call");
  return {
    id: `msg_${id.replaceAll("-", "")}`,
    type: "message",
    role: "assistant",
    model: model ?? "unknown",
    content: content.map(blockOf),
    stop_reason: isCall ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
}

/** A content block of the Messages API, which is what Claude Code stores. */
function blockOf(part: Part): unknown {
  const raw = rawOf(part);
  if (raw?.form === "anthropic") return raw.value;
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "call":
      return { type: "tool_use", id: part.id, name: part.name, input: part.input };
    case "result":
      return resultBlock(part);
    case "media":
      if (part.file === null) return { type: "text", text: lostLine(part) };
      return {
        type: part.kind,
        source: { type: "base64", media_type: part.file.type, data: part.file.data },
      };
    default:
      return { type: "text", text: lostLine(part) };
  }
}

/** A result that is one text is written as a string, as Claude Code writes most. */
function resultBlock({ callId, parts, isError }: ResultPart): object {
  const [only] = parts;
  const content = parts.length === 1 && only?.type === "text" ? only.text : parts.map(blockOf);
  return {
    type: "tool_result",
    tool_use_id: callId,
    ...(parts.length === 0 ? {} : { content }),
    ...(isError ? { is_error: true } : {}),
  };
}

/** Claude Code adds its own reminders again when it continues. */
function withoutReminders({ role, content }: WritableMessage): WritableMessage {
  const isReminder = (part: Part): boolean => part.type === "text" && reminder.test(part.text);
  return { role, content: role === "user" ? content.filter((part) => !isReminder(part)) : content };
}

const reminder = /^\s*<system-reminder>[\s\S]*<\/system-reminder>\s*$/;
