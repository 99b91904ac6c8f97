/**
 * A session that grows like one of Claude Code: messages first, then system and tools; the cache mark is on
 * the last block and moves with every request, and the message that had it becomes a plain string again.
 */
export class GrowingSession {
  readonly id: string;
  readonly #head: Buffer;
  readonly #tail: Buffer;
  readonly #base: Buffer;
  readonly #added: Buffer[] = [];
  #turn = 0;

  constructor(id: string, bytes: number) {
    this.id = id;
    const system = [
      { type: "text", text: "x-client: bench" },
      { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } },
    ];
    const tools = Array.from({ length: 4 }, (_, at) => ({
      name: `tool_${at}`,
      input_schema: { type: "object" },
    }));
    const rest = { system, tools, metadata: { user_id: "bench" }, max_tokens: 64_000, stream: true };
    this.#head = Buffer.from('{"model":"claude-opus-4-8","messages":[');
    this.#tail = Buffer.from(`],${JSON.stringify(rest).slice(1)}`);
    const room = Math.max(0, bytes - this.#head.length - this.#tail.length - 400);
    this.#base = Buffer.from(history(id, room).join(","));
  }

  /** The body of the next request: the history, the last answer and a new message. */
  nextBody(): Buffer {
    this.#turn += 1;
    const text = `turn ${this.#turn} of ${this.id}: what does the next file say?`;
    const marked = { type: "text", text, cache_control: { type: "ephemeral" } };
    const last = Buffer.from(`,${JSON.stringify({ role: "user", content: [marked] })}`);
    const body = Buffer.concat([this.#head, this.#base, ...this.#added, last, this.#tail]);
    const answer = { role: "assistant", content: [{ type: "text", text: answerText }] };
    const unmarked = JSON.stringify({ role: "user", content: text });
    this.#added.push(Buffer.from(`,${unmarked},${JSON.stringify(answer)}`));
    return body;
  }
}

const answerText = Array.from({ length: 32 }, (_, index) => `word ${index} `).join("");

/** Tool calls and results of about 2 KB each, up to `room` bytes. */
function history(id: string, room: number): readonly string[] {
  const messages = [JSON.stringify({ role: "user", content: `Session ${id}: please look at the parser.` })];
  let used = messages[0]?.length ?? 0;
  for (let at = 0; used + 400 < room; at += 1) {
    const call = {
      type: "tool_use",
      id: `toolu_${id}_${at}`,
      name: "tool_1",
      input: { path: `src/file-${at}.ts` },
    };
    const line = `export function step${at}(input: string): string { return input.trim(); } // "quoted" \\ here\n`;
    const content = line.repeat(
      Math.max(1, Math.min(24, Math.floor((room - used - 400) / (line.length + 8)))),
    );
    const result = { type: "tool_result", tool_use_id: call.id, content };
    const pair = [
      JSON.stringify({ role: "assistant", content: [call] }),
      JSON.stringify({ role: "user", content: [result] }),
    ];
    messages.push(...pair);
    used += pair.join(",").length + 1;
  }
  messages.push(
    JSON.stringify({ role: "assistant", content: [{ type: "text", text: "I have read them." }] }),
  );
  return messages;
}
