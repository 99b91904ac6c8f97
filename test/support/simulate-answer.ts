import type { Block, Fields } from "./simulate-body.ts";

/** What a client keeps of an answer. */
export function contentOf(body: Buffer, isStreamed: boolean): readonly Block[] {
  const text = body.toString("utf8");
  if (!isStreamed) return (JSON.parse(text) as { readonly content: readonly Block[] }).content;
  const blocks: Record<string, unknown>[] = [];
  const inputs = new Map<number, string>();
  for (const line of text.split("\n")) {
    if (!line.startsWith("data:")) continue;
    const event = JSON.parse(line.slice("data:".length)) as WireEvent;
    if (event.type === "content_block_start") blocks[event.index] = { ...event.content_block };
    if (event.type === "content_block_delta") heard(event, blocks[event.index] ?? {}, inputs);
  }
  for (const [index, input] of inputs) {
    const block = blocks[index];
    if (block !== undefined) block["input"] = input === "" ? {} : JSON.parse(input);
  }
  return blocks as Block[];
}

type WireEvent = {
  readonly type: string;
  readonly index: number;
  readonly content_block?: Fields;
  readonly delta?: { readonly [field: string]: string };
};

function heard(
  { delta = {}, index }: WireEvent,
  block: Record<string, unknown>,
  inputs: Map<number, string>,
): void {
  switch (delta["type"]) {
    case "text_delta":
      block["text"] = `${String(block["text"] ?? "")}${delta["text"]}`;
      break;
    case "thinking_delta":
      block["thinking"] = `${String(block["thinking"] ?? "")}${delta["thinking"]}`;
      break;
    case "signature_delta":
      block["signature"] = delta["signature"];
      break;
    case "input_json_delta":
      inputs.set(index, `${inputs.get(index) ?? ""}${delta["partial_json"]}`);
      break;
    default:
      break;
  }
}
