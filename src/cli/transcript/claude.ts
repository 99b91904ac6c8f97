import { join } from "node:path";
import type { Json } from "../../base/index.ts";
import type { TranscriptRow } from "../../session/index.ts";
import { inLines, isoTime, uuidOf, type WriteTranscript } from "./file.ts";

/** Of the form it is written in; Claude Code takes what older versions wrote. */
const version = "2.1.197";

/** A line per message, each naming the one before: `~/.claude/projects/<folder>/<id>.jsonl`. */
export const claudeTranscript: WriteTranscript = ({ rows, model }, going) => {
  const { id, cwd, home, env } = going;
  const said = rows.map(withoutReminders).filter(({ content }) => content.length > 0);
  const lines = said.map(({ role, content }, at) => ({
    parentUuid: at === 0 ? null : uuidOf(`${id} ${at - 1}`),
    isSidechain: false,
    userType: "external",
    cwd,
    sessionId: id,
    version,
    gitBranch: "",
    type: role,
    message: role === "user" ? { role, content } : answer(content, { id: uuidOf(`${id} ${at}`), model }),
    uuid: uuidOf(`${id} ${at}`),
    timestamp: isoTime(going, at),
  }));
  const folder = env["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude");
  const path = join(folder, "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"), `${id}.jsonl`);
  return { path, text: inLines(lines), resume: `claude --resume ${id}` };
};

type Said = { readonly id: string; readonly model: string | null };

function answer(content: readonly Json[], { id, model }: Said): object {
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

/** What Claude Code says beside its user it says anew when it goes on. */
function withoutReminders({ role, content }: TranscriptRow): TranscriptRow {
  const isReminder = (part: Json): boolean =>
    isFields(part) && typeof part["text"] === "string" && reminder.test(part["text"]);
  return { role, content: role === "user" ? content.filter((part) => !isReminder(part)) : content };
}

const reminder = /^\s*<system-reminder>[\s\S]*<\/system-reminder>\s*$/;

function isFields(part: Json): part is { readonly [key: string]: Json } {
  return typeof part === "object" && part !== null && !Array.isArray(part);
}
