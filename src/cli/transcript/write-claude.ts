import { join } from "node:path";
import type { Json } from "../../base/index.ts";
import type { TranscriptRow } from "../../queries/answers/index.ts";
import { isoTime, type TranscriptWriter, toJsonLines, uuidOf } from "./written-transcript.ts";

/** The version of the format; Claude Code reads what older versions wrote. */
const version = "2.1.197";

/** One line per message, each naming the previous one: `~/.claude/projects/<folder>/<id>.jsonl`. */
export const claudeTranscript: TranscriptWriter = ({ rows, model }, target) => {
  const { id, cwd, home, env } = target;
  const messages = rows.map(withoutReminders).filter(({ content }) => content.length > 0);
  const lines = messages.map(({ role, content }, at) => ({
    parentUuid: at === 0 ? null : uuidOf(`${id} ${at - 1}`),
    isSidechain: false,
    userType: "external",
    cwd,
    sessionId: id,
    version,
    gitBranch: "",
    type: role,
    message:
      role === "user" ? { role, content } : answerMessage(content, { id: uuidOf(`${id} ${at}`), model }),
    uuid: uuidOf(`${id} ${at}`),
    timestamp: isoTime(target, at),
  }));
  const folder = env["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude");
  const path = join(folder, "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"), `${id}.jsonl`);
  return { path, text: toJsonLines(lines), resume: `claude --resume ${id}` };
};

type AnswerIdentity = { readonly id: string; readonly model: string | null };

function answerMessage(content: readonly Json[], { id, model }: AnswerIdentity): object {
  const isCall = content.some((part) => isFields(part) && part["type"] === "tool_use");
  return {
    id: `msg_${id.replaceAll("-", "")}`,
    type: "message",
    role: "assistant",
    model: model ?? "unknown",
    content,
    stop_reason: isCall ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
}

/** Claude Code adds its own reminders again when it continues. */
function withoutReminders({ role, content }: TranscriptRow): TranscriptRow {
  const isReminder = (part: Json): boolean =>
    isFields(part) && typeof part["text"] === "string" && reminder.test(part["text"]);
  return { role, content: role === "user" ? content.filter((part) => !isReminder(part)) : content };
}

const reminder = /^\s*<system-reminder>[\s\S]*<\/system-reminder>\s*$/;

function isFields(part: Json): part is { readonly [key: string]: Json } {
  return typeof part === "object" && part !== null && !Array.isArray(part);
}
