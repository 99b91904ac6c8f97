import { must, type Random } from "../../src/base/index.ts";
import type { PlannedRequest } from "../../src/exchange/index.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import type { ParsedRequest } from "../../src/testing/index.ts";
import { type Block, blocksOf, type Fields, nonce } from "./seen-body.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const interceptAnswer = anthropic.answer.intercept;

/** So many bytes of an answer come at a time. */
const chunkBytes = 61;

/** An answer as the proxy passes it on. */
export function passedOn(body: Buffer, strips: PlannedRequest["ownLineFilter"], isStreamed: boolean): Buffer {
  if (strips === null) return body;
  const contentType = isStreamed ? "text/event-stream" : "application/json";
  const options = { ownLines: strips, isOwnTool: null, commandNonce: null, bytesMax: body.length };
  const relay = must(interceptAnswer(contentType, options), "the form is known");
  const out: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += chunkBytes)
    out.push(...relay.push(body.subarray(at, at + chunkBytes)));
  return Buffer.concat([...out, ...relay.end()]);
}

/** What a model says that repeats something of ours in its answer, as a line or as a whole. */
export function withEcho(said: string, request: ParsedRequest, random: Random): string {
  const texts = request.messages.flatMap(({ role, content }) =>
    role === "assistant" ? [] : content.flatMap((block) => [block, ...blocksOf(block["content"])]),
  );
  const own = texts.flatMap(({ text }) =>
    typeof text === "string" && text.includes(nonce) && !text.startsWith("#") ? [text] : [],
  );
  if (own.length === 0) return said;
  const whole = random.pick(own);
  const [line = ""] = whole.split("\n");
  return random.pick([
    `${whole}\n${said}`,
    `${said}\n${whole}`,
    `First.\n${whole}\n${said}`,
    `${said}\n> ${line}\n`,
    `${whole}\n`,
  ]);
}

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
    if (event.type === "content_block_delta") received(event, blocks[event.index] ?? {}, inputs);
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

function received(
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
