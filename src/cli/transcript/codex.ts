import { join } from "node:path";
import type { TranscriptRow } from "../../session/index.ts";
import { inLines, isoTime, type WriteTranscript } from "./file.ts";
import { type Part, partsOf } from "./parts.ts";

/** Of the form it is written in. */
const version = "0.166.0";

/** Items as the Responses API has them: `~/.codex/sessions/<day>/rollout-<time>-<id>.jsonl`. */
export const codexTranscript: WriteTranscript = ({ rows }, going) => {
  const { id, cwd, home, env } = going;
  const start = isoTime(going, 0);
  const meta = { id, timestamp: start, cwd, originator: "aperture", cli_version: version, source: "cli" };
  const items = rows.flatMap((row) => partsOf(row).flatMap((part) => itemsOf(row.role, part)));
  const lines = [{ type: "session_meta", payload: meta }, ...items].map((line, at) => ({
    timestamp: isoTime(going, at),
    ...line,
  }));
  const [day, time] = start.split("T") as [string, string]; // an ISO time has both
  const folder = join(env["CODEX_HOME"] ?? join(home, ".codex"), "sessions", ...day.split("-"));
  const name = `rollout-${day}T${time.slice(0, 8).replaceAll(":", "-")}-${id}.jsonl`;
  return { path: join(folder, name), text: inLines(lines), resume: `codex resume ${id}` };
};

type Line = { readonly type: string; readonly payload: object };

function itemsOf(role: TranscriptRow["role"], part: Part): readonly Line[] {
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

/** What a user said stands there twice: once for the model, once for the screen. */
function textItems(role: TranscriptRow["role"], text: string): readonly Line[] {
  const type = role === "user" ? "input_text" : "output_text";
  const said = item({ type: "message", role, content: [{ type, text }] });
  const shown =
    role === "user" ? { type: "user_message", message: text } : { type: "agent_message", message: text };
  return [said, { type: "event_msg", payload: shown }];
}

function item(payload: object): Line {
  return { type: "response_item", payload };
}
