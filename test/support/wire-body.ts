import { type ContentHash, hashContent } from "../../src/base/index.ts";
import type { RecordedBlock, RecordedMessage, Recording } from "./recordings.ts";

/** A block as it stands in a request body: its exact bytes, and what they are called. */
export type RawBlock = { readonly text: string; readonly hash: ContentHash; readonly wire: RecordedBlock };
export type RawMessage = {
  readonly role: string;
  /** A message may be a bare string; then its one block is the string literal. */
  readonly bare: boolean;
  readonly blocks: readonly RawBlock[];
  /** A line of ours behind the blocks, upstream only. */
  readonly header: string | null;
};

export function rawMessage(message: RecordedMessage, header: string | null): RawMessage {
  const { role, content } = message;
  if (typeof content !== "string") return { role, bare: false, blocks: content.map(rawBlock), header };
  const text = JSON.stringify(content);
  const wire = { type: "text", text: content };
  return { role, bare: true, blocks: [{ text, hash: hashContent(text), wire }], header };
}

export function rawBlock(wire: RecordedBlock): RawBlock {
  const text = JSON.stringify(wire);
  return { text, hash: hashContent(text), wire };
}

export type BuiltBody = { readonly bytes: Buffer; readonly slices: readonly BodySlice[] };
export type BodySlice = { readonly start: number; readonly length: number; readonly content: ContentHash };

const mark = '"cache_control":{"type":"ephemeral"}';

/**
 * A request body as a client writes it, with its cache mark on the last block, where it moves every turn: a
 * marked message is an array of blocks, an unmarked one may be a bare string. Upstream bodies carry more: an
 * instruction behind the system prompt, a line behind each message, and a tail that is new each time.
 */
export function buildBody(
  recording: Recording,
  messages: readonly RawMessage[],
  tail: string | null,
): BuiltBody {
  const parts: (string | RawBlock)[] = [opening(recording, tail !== null)];
  for (const [index, message] of messages.entries()) {
    if (index > 0) parts.push(",");
    parts.push(...messageParts(message, index === messages.length - 1, tail !== null));
  }
  const last = { role: "system", content: [{ type: "text", text: tail }] };
  parts.push(tail === null ? "" : `,${JSON.stringify(last)}`, "]}");
  return joined(parts);
}

function opening(recording: Recording, upstream: boolean): string {
  const system = [{ type: "text", text: recording.system ?? "You are a careful assistant." }].map((block) =>
    JSON.stringify(block).replace(/\}$/, `,${mark}}`),
  );
  if (upstream) system.push(JSON.stringify({ type: "text", text: "Blocks are numbered. ".repeat(60) }));
  const tools = recording.tools.map((name) => ({ name, description: "", input_schema: { type: "object" } }));
  const head = { model: recording.models[0] ?? "unknown", max_tokens: 8192 };
  const fields = `"system":[${system.join(",")}],"tools":${JSON.stringify(tools)},"messages":[`;
  return `${JSON.stringify(head).slice(0, -1)},${fields}`;
}

function messageParts(
  message: RawMessage,
  marked: boolean,
  upstream: boolean,
): readonly (string | RawBlock)[] {
  const { role, bare, blocks } = message;
  const header =
    upstream && message.header !== null ? JSON.stringify({ type: "text", text: message.header }) : null;
  const [only] = blocks;
  if (bare && !marked && header === null && only !== undefined)
    return [`{"role":"${role}","content":`, only, "}"];
  const parts: (string | RawBlock)[] = [`{"role":"${role}","content":[`];
  for (const [index, block] of blocks.entries()) {
    if (index > 0) parts.push(",");
    parts.push(...(bare ? ['{"type":"text","text":', block, marked ? `,${mark}}` : "}"] : [block]));
  }
  if (header !== null) parts.push(",", header);
  return [...parts, marked && !bare ? `],${mark}}` : "]}"];
}

function joined(parts: readonly (string | RawBlock)[]): BuiltBody {
  const buffers: Buffer[] = [];
  const slices: BodySlice[] = [];
  let start = 0;
  for (const part of parts) {
    const buffer = Buffer.from(typeof part === "string" ? part : part.text);
    if (typeof part !== "string") slices.push({ start, length: buffer.length, content: part.hash });
    buffers.push(buffer);
    start += buffer.length;
  }
  return { bytes: Buffer.concat(buffers), slices };
}

/** An answer as server-sent events, its text in small pieces as models write it. */
export function wireEvents(blocks: readonly RecordedBlock[], turn: number): string {
  const events: unknown[] = [{ type: "message_start", message: { id: `msg_${turn}`, content: [] } }];
  for (const [index, block] of blocks.entries()) {
    events.push({ type: "content_block_start", index, content_block: { type: block.type } });
    for (const piece of JSON.stringify(block).match(/.{1,48}/gs) ?? []) {
      events.push({ type: "content_block_delta", index, delta: { type: "text_delta", text: piece } });
    }
    events.push({ type: "content_block_stop", index });
  }
  events.push({ type: "message_stop" });
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}
