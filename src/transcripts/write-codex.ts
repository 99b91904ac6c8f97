import { type MessagePart, messageParts } from "./message-parts.ts";
import { isoTime, type TranscriptFormat, toJsonLines, type WritableMessage } from "./written-transcript.ts";

/** The version of the format. */
const version = "0.166.0";

/** Items of the Responses API: `~/.codex/sessions/<day>/rollout-<time>-<id>.jsonl`. */
export const codexFormat: TranscriptFormat = {
  folder: { variable: "CODEX_HOME", usual: [".codex"] },
  write: ({ rows }, target) => {
    const { id, cwd } = target;
    const start = isoTime(target, 0);
    const meta = { id, timestamp: start, cwd, originator: "aperture", cli_version: version, source: "cli" };
    const items = rows.flatMap((row) => messageParts(row).flatMap((part) => itemsOf(row.role, part)));
    const lines = [{ type: "session_meta", payload: meta }, ...items].map((line, at) => ({
      timestamp: isoTime(target, at),
      ...line,
    }));
    const [day, time] = start.split("T") as [string, string]; // an ISO time has both
    const name = `rollout-${day}T${time.slice(0, 8).replaceAll(":", "-")}-${id}.jsonl`;
    const file = ["sessions", ...day.split("-"), name];
    return { file, text: toJsonLines(lines), resume: () => `codex resume ${id}` };
  },
};

type RolloutLine = { readonly type: string; readonly payload: object };

function itemsOf(role: WritableMessage["role"], part: MessagePart): readonly RolloutLine[] {
  switch (part.type) {
    case "text":
      return textItems(role, part.text);
    case "picture": {
      const url = `data:${part.media};base64,${part.data}`;
      return [item({ type: "message", role, content: [{ type: "input_image", image_url: url }] })];
    }
    case "call": {
      const { id, name, input } = part;
      return [item({ type: "function_call", name, arguments: JSON.stringify(input), call_id: id })];
    }
    case "result":
      return [item({ type: "function_call_output", call_id: part.call, output: part.text })];
  }
}

/** A text is stored twice: once for the model, once for the screen. */
function textItems(role: WritableMessage["role"], text: string): readonly RolloutLine[] {
  const type = role === "user" ? "input_text" : "output_text";
  const stored = item({ type: "message", role, content: [{ type, text }] });
  const shown =
    role === "user" ? { type: "user_message", message: text } : { type: "agent_message", message: text };
  return [stored, { type: "event_msg", payload: shown }];
}

function item(payload: object): RolloutLine {
  return { type: "response_item", payload };
}
