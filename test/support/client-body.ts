import type { RecordedBlock, RecordedMessage, RecordedTurn, Recording } from "./recordings.ts";

const mark = { cache_control: { type: "ephemeral" } } as const;

/**
 * A request body as Claude Code writes it: messages before system and tools, the cache mark on the last block
 * of the last message. A message with a single text is a bare string, except while it bears the mark.
 */
export function clientBody(
  recording: Recording,
  messages: readonly RecordedMessage[],
  model: string,
): Buffer {
  const system = [{ type: "text", text: recording.system ?? "You are a careful assistant.", ...mark }];
  const tools = recording.tools.map((name) => ({ name, description: "", input_schema: { type: "object" } }));
  return Buffer.from(
    JSON.stringify({
      model,
      messages: messages.map((message, at) => (at === messages.length - 1 ? marked(message) : bare(message))),
      system,
      ...(tools.length === 0 ? {} : { tools }),
      max_tokens: 8_192,
      stream: true,
    }),
  );
}

function blocksOf({ content }: RecordedMessage): readonly RecordedBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function marked(message: RecordedMessage): object {
  const blocks = blocksOf(message);
  const last = blocks.length - 1;
  return {
    role: message.role,
    content: blocks.map((block, at) => (at === last ? { ...block, ...mark } : block)),
  };
}

function bare(message: RecordedMessage): object {
  const [first, second] = blocksOf(message);
  const isPlain = message.role === "user" && first?.type === "text" && second === undefined;
  return isPlain ? { role: message.role, content: first["text"] } : message;
}

/** What the client holds at each request of a recording, first to last. */
export function* requestsOf(recording: Pick<Recording, "turns">): Generator<{
  readonly turn: RecordedTurn;
  readonly messages: readonly RecordedMessage[];
}> {
  let messages: readonly RecordedMessage[] = [];
  for (const turn of recording.turns) {
    messages = [...messages.slice(0, turn.k ?? messages.length), ...turn.c];
    yield { turn, messages };
    messages = [...messages, { role: "assistant", content: turn.a }];
  }
}
