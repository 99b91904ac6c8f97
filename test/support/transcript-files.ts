import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  recordedBlocks,
  type TranscriptClient,
  type TranscriptText,
} from "../../src/transcripts/client-transcript.ts";
import type { RecordedBlock, RecordedMessage, RecordedTurn, Recording } from "../../src/transcripts/index.ts";

/**
 * Recorded sessions in the files of the clients that had them, as those clients write them: the way back from
 * what the readers of transcripts do. Written apart from them, so that a mistake there does not hide itself.
 */
export function transcriptFiles(recording: Recording, client: TranscriptClient): readonly TranscriptText[] {
  switch (client) {
    case "claude-code":
      return claudeFiles(recording);
    case "codex":
      return [
        { name: `.codex/sessions/2026/01/02/rollout-${recording.id}.jsonl`, text: codexText(recording) },
      ];
    case "gemini-cli":
      return [{ name: `.gemini/tmp/p/chats/session-${recording.id}.json`, text: geminiText(recording) }];
  }
}

/** Below a home directory, where the clients would have put them. */
export function writeTranscripts(home: string, files: readonly TranscriptText[]): readonly string[] {
  return files.map(({ name, text }) => {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  });
}

const asLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");

const noTime = "1970-01-01T00:00:00.000Z";

function claudeFiles(recording: Recording): readonly TranscriptText[] {
  const folder = ".claude/projects/-somewhere";
  const { id } = recording;
  const main = { name: `${folder}/${id}.jsonl`, text: asLines(claudeLines(id, recording.turns, null)) };
  const agents = (recording.streams ?? []).map(({ turns }, at) => ({
    name: `${folder}/${id}/subagents/agent-a${at}.jsonl`,
    text: asLines(claudeLines(id, turns, `a${at}`)),
  }));
  return [main, ...agents];
}

type ClaudeLine = Readonly<Record<string, unknown>> & { readonly uuid: string };

function claudeLines(
  id: string,
  turns: readonly RecordedTurn[],
  agent: string | null,
): readonly ClaudeLine[] {
  const lines: ClaudeLine[] = [];
  // For each message of the list, the line that the next one goes on from.
  let ends: readonly string[] = [];
  // A result goes on from the line with its call, so that those of one answer stand beside each other.
  const callers = new Map<unknown, string>();
  const prefix = `${id}/${agent ?? "main"}`;
  const add = (parent: string | null, rest: object): string => {
    const uuid = `${prefix}/${lines.length}`;
    const shared = { sessionId: id, cwd: "/somewhere", version: "2.1.0", isSidechain: agent !== null };
    const named = agent === null ? shared : { ...shared, agentId: agent };
    lines.push({ parentUuid: parent, ...named, ...rest, uuid });
    return uuid;
  };
  for (const [at, { k, c, a, m }] of turns.entries()) {
    const timestamp = m?.t ?? noTime;
    ends = ends.slice(0, k ?? ends.length);
    for (const { role, content } of c) {
      const parts = role === "user" ? claudeParts(content) : [content];
      let parent = ends.at(-1) ?? null;
      if (k === 0 && parent === null) {
        add(null, { type: "system", subtype: "compact_boundary", timestamp, content: "compacted" });
        parent = lines.at(-1)?.uuid ?? null;
      }
      for (const part of parts) {
        const said = { type: role, timestamp, message: { role, content: part } };
        parent = add(callers.get(callOf(part)) ?? parent, said);
      }
      ends = [...ends, parent ?? ""];
    }
    const usage = m?.usage;
    let parent = ends.at(-1) ?? null;
    for (const block of a) {
      const message = {
        id: `msg-${prefix}-${at}`,
        role: "assistant",
        ...(m?.model === undefined ? {} : { model: m.model }),
        content: [block],
        ...(usage === undefined
          ? {}
          : {
              usage: {
                input_tokens: usage.in,
                cache_read_input_tokens: usage.cr,
                cache_creation_input_tokens: usage.cw,
                output_tokens: usage.out,
              },
            }),
      };
      parent = add(parent, { type: "assistant", timestamp, requestId: `req-${at}`, message });
      if (block.type === "tool_use") callers.set(block["id"], parent);
    }
    ends = [...ends, parent ?? ""];
  }
  return lines;
}

function callOf(content: RecordedMessage["content"]): unknown {
  const [only, ...others] = typeof content === "string" ? [] : content;
  return others.length === 0 ? only?.["tool_use_id"] : undefined;
}

/** Each result has a line of its own. */
function claudeParts(content: RecordedMessage["content"]): readonly RecordedMessage["content"][] {
  if (typeof content === "string") return [content];
  const isResult = ({ type }: RecordedBlock): boolean => type === "tool_result";
  const results = content.filter(isResult);
  return results.length < content.length ? [content] : results.map((block) => [block]);
}

function codexText({ id, system, turns }: Recording): string {
  const meta = { id, timestamp: noTime, cwd: "/somewhere", cli_version: "0.130.0", source: "cli" };
  const base = system === null ? {} : { base_instructions: { text: system } };
  const lines: unknown[] = [{ timestamp: noTime, type: "session_meta", payload: { ...meta, ...base } }];
  const total = { input_tokens: 0, output_tokens: 0 };
  for (const { c, a, m } of turns) {
    const timestamp = m?.t ?? noTime;
    const add = (type: string, payload: unknown): unknown => lines.push({ timestamp, type, payload });
    add("turn_context", { cwd: "/somewhere", model: m?.model });
    for (const message of c) for (const item of codexClientItems(message)) add("response_item", item);
    for (const block of a) add("response_item", codexModelItem(block));
    if (m?.usage === undefined) continue;
    const { in: fresh, cr, cw, out } = m.usage;
    const last = { input_tokens: fresh + cr + cw, cached_input_tokens: cr, output_tokens: out };
    total.input_tokens += last.input_tokens;
    total.output_tokens += out;
    add("event_msg", {
      type: "token_count",
      info: { total_token_usage: { ...total }, last_token_usage: last },
    });
  }
  return asLines(lines);
}

function codexClientItems(message: RecordedMessage): readonly unknown[] {
  return recordedBlocks(message).map((block) =>
    block.type === "tool_result"
      ? { type: "function_call_output", call_id: block["tool_use_id"], output: block["content"] }
      : { type: "message", role: "user", content: [{ type: "input_text", text: block["text"] }] },
  );
}

function codexModelItem(block: RecordedBlock): unknown {
  switch (block.type) {
    case "thinking": {
      const text = block["thinking"];
      const summary = text === "" ? [] : [{ type: "summary_text", text }];
      return { type: "reasoning", summary, encrypted_content: "gAAAA" };
    }
    case "tool_use": {
      const { id, name, input } = block as RecordedBlock & { input: Readonly<Record<string, unknown>> };
      const call = { name, call_id: id };
      return Object.keys(input).join() === "raw"
        ? { type: "custom_tool_call", status: "completed", ...call, input: input["raw"] }
        : { type: "function_call", ...call, arguments: JSON.stringify(input) };
    }
    default:
      return { type: "message", role: "assistant", content: [{ type: "output_text", text: block["text"] }] };
  }
}

function geminiText({ id, turns }: Recording): string {
  const results = new Map(
    turns.flatMap(({ c }) =>
      c
        .flatMap(recordedBlocks)
        .flatMap((block) => (block.type === "tool_result" ? [[block["tool_use_id"], block]] : [])),
    ) as readonly (readonly [unknown, RecordedBlock])[],
  );
  const messages = turns.flatMap(({ c, a, m }, at) => {
    const timestamp = m?.t ?? noTime;
    const said = c.flatMap((message, nth) => {
      const isWords = recordedBlocks(message).some(({ type }) => type !== "tool_result");
      return isWords ? [{ id: `u${at}-${nth}`, timestamp, type: "user", content: message.content }] : [];
    });
    return [
      ...said,
      {
        id: `g${at}`,
        timestamp,
        type: "gemini",
        model: m?.model,
        ...geminiAnswer(a, results),
        tokens: geminiTokens(m),
      },
    ];
  });
  const head = { sessionId: id, projectHash: "0".repeat(64), startTime: noTime, lastUpdated: noTime };
  return JSON.stringify({ ...head, messages }, null, 2);
}

function geminiTokens(m: RecordedTurn["m"]): unknown {
  if (m?.usage === undefined) return undefined;
  const { in: fresh, cr, out } = m.usage;
  return { input: fresh + cr, output: out, cached: cr, thoughts: 0, tool: 0, total: fresh + cr + out };
}

function geminiAnswer(a: readonly RecordedBlock[], results: ReadonlyMap<unknown, RecordedBlock>): object {
  const thoughts = a.flatMap((block) => {
    if (block.type !== "thinking") return [];
    const [subject, ...rest] = String(block["thinking"]).split("\n");
    return [{ subject, description: rest.join("\n"), timestamp: noTime }];
  });
  const content = a.flatMap((block) => (block.type === "text" ? [String(block["text"])] : [])).join("");
  const toolCalls = a.flatMap((block) => {
    if (block.type !== "tool_use") return [];
    const { id, name, input } = block;
    const result = results.get(id);
    const response = { id, name, response: { output: result?.["content"] } };
    const answered = result === undefined ? {} : { result: [{ functionResponse: response }] };
    return [{ id, name, args: input, status: "success", timestamp: noTime, ...answered }];
  });
  return { content, thoughts, ...(toolCalls.length === 0 ? {} : { toolCalls }) };
}
