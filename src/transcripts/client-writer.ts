import { recordedBlocks } from "./client-transcript.ts";
import type { RecordedBlock, RecordedMessage, RecordedTurn } from "./session-recording.ts";

/** The head of a client's requests, and where the client sets its cache marks. */
export type ClientForm = {
  readonly system: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly systemMarks: number;
  readonly messageMarks: number;
};

const mark = { cache_control: { type: "ephemeral" } };

/** Writes the requests of one stream as its client would; each message is serialised once. */
export class ClientWriter {
  readonly #form: ClientForm;
  readonly #head: Buffer;
  readonly #serialised = new Map<RecordedMessage, Buffer>();
  #messages: readonly RecordedMessage[] = [];

  constructor(form: ClientForm) {
    this.#form = form;
    const tools = form.tools.map(({ name, description }) => ({
      name,
      description,
      input_schema: { type: "object", properties: {} },
    }));
    const head = { max_tokens: 32_000, system: systemBlocks(form), tools };
    this.#head = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"messages":[`);
  }

  request(turn: RecordedTurn, model: string): Buffer {
    const kept = this.#messages.slice(0, turn.k ?? this.#messages.length);
    const messages = [...kept, ...turn.c];
    this.#messages = [...messages, { role: "assistant", content: turn.a }];
    const plain = messages.length - this.#form.messageMarks;
    const pieces: Uint8Array[] = [this.#head];
    for (const [at, message] of messages.entries()) {
      if (at > 0) pieces.push(comma);
      pieces.push(at < plain ? this.#plain(message) : Buffer.from(JSON.stringify(marked(message))));
    }
    pieces.push(Buffer.from(`],"model":${JSON.stringify(model)}}`));
    return Buffer.concat(pieces);
  }

  #plain(message: RecordedMessage): Buffer {
    const bytes = this.#serialised.get(message) ?? Buffer.from(JSON.stringify(message));
    this.#serialised.set(message, bytes);
    return bytes;
  }
}

const comma = Buffer.from(",");

/** One text for each mark; the last one is the system prompt. */
function systemBlocks({ system, systemMarks }: ClientForm): readonly RecordedBlock[] {
  if (system === "") return [];
  const first = { type: "text", text: system.slice(0, identityChars), ...mark };
  const prompt = { type: "text", text: system.slice(identityChars), ...mark };
  const isSplit = systemMarks > 1 && system.length > identityChars;
  return isSplit ? [first, prompt] : [{ type: "text", text: system, ...mark }];
}

const identityChars = 60;

function marked({ role, content }: RecordedMessage): RecordedMessage {
  const blocks = recordedBlocks({ role, content });
  const last = blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return { role, content: blocks.map((block, at) => (at === last ? { ...block, ...mark } : block)) };
}
