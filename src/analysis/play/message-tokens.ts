import { estimateOverhead, estimatePart, imageHead, type TokenPart } from "../../tokens/index.ts";
import type { RecordedBlock, RecordedMessage } from "../../transcripts/index.ts";

const aMessage = { messages: 1, tools: 0 };
const noMessage = { messages: 0, tools: 0 };

export function messageTokens({ content }: RecordedMessage, model: string): number {
  const parts =
    typeof content === "string" ? [{ kind: "text", text: content } as const] : content.flatMap(partsOf);
  const around = estimateOverhead(aMessage, model) - estimateOverhead(noMessage, model);
  return around + sum(parts.map((part) => estimatePart(part, model)));
}

function partsOf(block: RecordedBlock): readonly TokenPart[] {
  switch (block.type) {
    case "thinking": {
      const signature = typeof block["signature"] === "string" ? block["signature"] : "";
      return [{ kind: "reasoning", text: textOf(block["thinking"]), signatureLength: signature.length }];
    }
    case "tool_use":
      return [{ kind: "call", text: `${textOf(block["name"])} ${JSON.stringify(block["input"])}` }];
    case "tool_result":
      return resultParts(block["content"]);
    case "image":
      return [{ kind: "image", head: headOf(block) }];
    default:
      return [{ kind: "text", text: textOf(block["text"]) }];
  }
}

function resultParts(content: unknown): readonly TokenPart[] {
  if (!Array.isArray(content)) return [{ kind: "result", text: textOf(content) }];
  const inner = (content as readonly RecordedBlock[]).flatMap(partsOf);
  const texts = inner.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  return [{ kind: "result", text: texts.join("\n") }, ...inner.filter(({ kind }) => kind === "image")];
}

function headOf(block: RecordedBlock): Uint8Array | null {
  const source = block["source"] as { readonly data?: unknown } | undefined;
  return typeof source?.data === "string" ? imageHead(source.data) : null;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
