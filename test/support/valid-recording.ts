import type { RecordedBlock, RecordedMessage, RecordedTurn, Recording } from "./recordings.ts";

/**
 * Recordings come from the logs of many clients and many models. This writes one as a client of the Messages
 * API would have sent it: reasoning only where Claude signed it, call ids that are unique, results that
 * follow their call, every tool that is called declared, no blank text. No message is added or left out, so
 * what a turn keeps of the one before stays true.
 */
export function validRecording(recording: Recording): Recording {
  const isClaude = recording.models.every((name) => name.startsWith("claude"));
  const writer = new Writer(isClaude);
  const turns = recording.turns.map((turn) => writer.turn(turn));
  return { ...recording, turns, tools: [...new Set([...recording.tools, ...writer.tools])] };
}

const nothing: RecordedBlock = { type: "text", text: "(nothing)" };

class Writer {
  readonly tools = new Set<string>();
  readonly #keepsReasoning: boolean;
  /** Texts that signatures were made for: one that signs two texts is no signature. */
  readonly #signed = new Map<string, string>();
  #messages: RecordedMessage[] = [];

  constructor(keepsReasoning: boolean) {
    this.#keepsReasoning = keepsReasoning;
  }

  turn(turn: RecordedTurn): RecordedTurn {
    this.#messages = this.#messages.slice(0, turn.k ?? this.#messages.length);
    const c = turn.c.map((message) => this.#say(message));
    const { content } = this.#say({ role: "assistant", content: turn.a });
    return { ...turn, c, a: blocksIn(content) };
  }

  #say(message: RecordedMessage): RecordedMessage {
    const blocks = blocksIn(message.content);
    const isModel = message.role === "assistant";
    const written = isModel ? this.#answer(blocks) : this.#request(blocks);
    const said = { ...message, content: written.length === 0 ? [nothing] : written };
    this.#messages.push(said);
    return said;
  }

  #answer(blocks: readonly RecordedBlock[]): readonly RecordedBlock[] {
    const used = new Set(this.#messages.flatMap(({ content }) => blocksIn(content).map(idOf)));
    const kept = blocks.filter((block) => !isBlank(block) && (!isReasoning(block) || this.#isSigned(block)));
    while (kept.length > 0 && kept.every((block, at) => at < kept.length - 1 || isReasoning(block)))
      kept.pop();
    return kept.map((block) => {
      if (block.type !== "tool_use") return block;
      this.tools.add(String(block["name"]));
      const id = freeId(String(block["id"]), used);
      used.add(id);
      return { ...block, id };
    });
  }

  #isSigned(block: RecordedBlock): boolean {
    const [signature, text] = [String(block["signature"] ?? ""), String(block["thinking"] ?? "")];
    if (!this.#keepsReasoning || block.type !== "thinking" || signature.length < 32) return false;
    const known = this.#signed.get(signature) ?? text;
    this.#signed.set(signature, known);
    return known === text;
  }

  /** Results first, in the order of the calls they answer, one for each; then what else is said. */
  #request(blocks: readonly RecordedBlock[]): readonly RecordedBlock[] {
    const before = blocksIn(this.#messages.at(-1)?.content ?? []);
    const calls = before.filter(({ type }) => type === "tool_use").map(({ id }) => String(id));
    const results = calls.map((id) => {
      const found = blocks.find((block) => resultOf(block)?.startsWith(id.replace(/_again\d+$/, "")));
      return { ...(found ?? { type: "tool_result", content: "(no answer)" }), tool_use_id: id };
    });
    const answered = new Set(calls.map((id) => id.replace(/_again\d+$/, "")));
    for (const name of referencedTools(blocks)) this.tools.add(name);
    const rest = blocks.flatMap((block): readonly RecordedBlock[] => {
      const id = resultOf(block);
      if (id === null) return isBlank(block) || isReasoning(block) ? [] : [block];
      return answered.has(id) ? [] : [{ type: "text", text: JSON.stringify(block["content"] ?? "") }];
    });
    return [...results, ...rest];
  }
}

function blocksIn(content: RecordedMessage["content"]): readonly RecordedBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function isReasoning({ type }: RecordedBlock): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function isBlank(block: RecordedBlock): boolean {
  return block.type === "text" && String(block["text"] ?? "").trim() === "";
}

function idOf(block: RecordedBlock): string {
  return String(block["id"] ?? "");
}

function resultOf(block: RecordedBlock): string | null {
  return block.type === "tool_result" ? String(block["tool_use_id"]) : null;
}

/** Tools that a search found: a client declares them from then on, and may as well from the start. */
function referencedTools(blocks: readonly RecordedBlock[]): readonly string[] {
  const inner = blocks.flatMap(({ content }) =>
    Array.isArray(content) ? (content as readonly RecordedBlock[]) : [],
  );
  return inner.flatMap((block) => (block.type === "tool_reference" ? [String(block["tool_name"])] : []));
}

function freeId(id: string, used: ReadonlySet<string>): string {
  for (let n = 2; ; n += 1) {
    const free = n === 2 ? id : `${id}_again${n}`;
    if (!used.has(free)) return free;
  }
}
