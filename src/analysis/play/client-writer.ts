import type { RecordedBlock, RecordedMessage, RecordedTurn, Recording } from "../../transcripts/index.ts";
import type { ClientShape } from "./assumptions.ts";

/** The head of a client's requests, and where the client sets its cache marks. */
export type ClientForm = {
  readonly system: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly systemMarks: number;
  readonly messageMarks: number;
};

/** Recordings lack system texts and tool definitions, so filler text takes their place. */
export function clientForm(
  recording: Recording,
  shape: Pick<ClientShape, "overheadChars" | "toolsChars" | "systemMarks" | "messageMarks">,
): ClientForm {
  const { systemMarks, messageMarks, overheadChars, toolsChars } = shape;
  const recorded = systemText(recording.system);
  const missing = Math.max(0, overheadChars - recorded.length);
  const forTools = recorded === "" ? Math.min(missing, toolsChars) : missing;
  const names = recording.tools.length === 0 ? ["look"] : recording.tools;
  const each = Math.floor(forTools / names.length);
  return {
    system: recorded === "" ? filler("system", missing - forTools) : recorded,
    tools: names.map((name) => ({ name, description: filler(name, each) })),
    systemMarks,
    messageMarks,
  };
}

function systemText(system: unknown): string {
  if (system === null || system === undefined) return "";
  return typeof system === "string" ? system : JSON.stringify(system);
}

/** Has as many characters per token as measured in sessions, and no name that a model might use. */
const fillerText = "- if it is set: take (a) or (b), not both; the user may want none, so ask. ";

function filler(name: string, chars: number): string {
  if (chars <= 0) return "";
  return `${name}: ${fillerText.repeat(Math.ceil(chars / fillerText.length))}`.slice(0, chars);
}

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
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const last = blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return { role, content: blocks.map((block, at) => (at === last ? { ...block, ...mark } : block)) };
}
