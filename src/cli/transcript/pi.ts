import { join } from "node:path";
import { sha256Hex } from "../../base/index.ts";
import type { TranscriptRow } from "../../session/index.ts";
import { type Going, inLines, isoTime, type WriteTranscript } from "./file.ts";
import { type Part, partsOf } from "./parts.ts";

/** Of the form it is written in. */
const version = 3;

/** Entries that name the one before them: `~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl`. */
export const piTranscript: WriteTranscript = ({ rows, model }, going) => {
  const { id, cwd, home, env } = going;
  const names = new Map<string, string>();
  const messages = rows.flatMap((row) => messagesOf(row, { model: model ?? "unknown", names }));
  const start = isoTime(going, 0);
  const entries = messages.map((message, at) => ({
    type: "message",
    id: entryId(going, at),
    parentId: at === 0 ? null : entryId(going, at - 1),
    timestamp: isoTime(going, at + 1),
    message: { ...message, timestamp: going.timeMs + at + 1 },
  }));
  const folder = join(env["PI_CODING_AGENT_DIR"] ?? join(home, ".pi", "agent"), "sessions", folderName(cwd));
  const path = join(folder, `${start.replace(/[:.]/g, "-")}_${id}.jsonl`);
  const header = { type: "session", version, id, timestamp: start, cwd };
  return { path, text: inLines([header, ...entries]), resume: `pi --session ${path}` };
};

function folderName(cwd: string): string {
  return `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;
}

function entryId({ id }: Going, at: number): string {
  return sha256Hex(`${id} ${at}`).slice(0, 8);
}

type Saying = {
  readonly model: string;
  /** The tools that were called, by call: a result names its tool here. */
  readonly names: Map<string, string>;
};

function messagesOf(row: TranscriptRow, { model, names }: Saying): readonly object[] {
  const parts = partsOf(row);
  if (row.role === "user") return userMessages(parts, names);
  for (const part of parts) if (part.type === "call") names.set(part.id, part.name);
  const isCall = parts.some(({ type }) => type === "call");
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: noCost };
  const spoken = { api: "anthropic-messages", provider: "anthropic", model, usage };
  const content = parts.flatMap(spokenPart);
  return [{ role: "assistant", content, ...spoken, stopReason: isCall ? "toolUse" : "stop" }];
}

const noCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

function spokenPart(part: Part): readonly object[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type !== "call") return [];
  return [{ type: "toolCall", id: part.id, name: part.name, arguments: part.input }];
}

/** Each result is a message of its own, before what the user says. */
function userMessages(parts: readonly Part[], names: ReadonlyMap<string, string>): readonly object[] {
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
  const said = parts.flatMap((part): readonly object[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "picture" ? [{ type: "image", data: part.data, mimeType: part.media }] : [];
  });
  return said.length === 0 ? results : [...results, { role: "user", content: said }];
}
