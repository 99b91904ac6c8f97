import type { MediaPart, Part, ResultPart } from "../../content/index.ts";
import { estimateOverhead, estimatePart, imageHead, type TokenPart } from "../../tokens/index.ts";
import type { RecordedMessage } from "../../transcripts/index.ts";
import { recordedPart } from "./block-text.ts";

const aMessage = { messages: 1, tools: 0 };
const noMessage = { messages: 0, tools: 0 };

export function messageTokens({ content }: RecordedMessage, model: string): number {
  if (typeof content === "string") return partsTokens([{ type: "text", text: content }], model);
  return partsTokens(content.map(recordedPart), model);
}

/** Tokens of a message with these parts. */
export function partsTokens(parts: readonly Part[], model: string): number {
  const around = estimateOverhead(aMessage, model) - estimateOverhead(noMessage, model);
  return around + sum(parts.flatMap(tokenParts).map((part) => estimatePart(part, model)));
}

function tokenParts(part: Part): readonly TokenPart[] {
  switch (part.type) {
    case "text":
    case "instruction":
      return [{ kind: "text", text: part.text }];
    case "reasoning":
      return [{ kind: "reasoning", text: part.text ?? "", signatureLength: part.signatureLength }];
    case "call":
      return [{ kind: "call", text: `${part.name} ${JSON.stringify(part.input)}` }];
    case "result":
      return resultParts(part);
    case "media":
      return part.kind === "image" ? [imagePart(part)] : [];
    default:
      return [];
  }
}

/** Images are counted on their own; anything else without a text is an empty line. */
function resultParts({ parts }: ResultPart): readonly TokenPart[] {
  const images: TokenPart[] = [];
  const lines: string[] = [];
  for (const part of parts) {
    if (part.type === "media" && part.kind === "image") images.push(imagePart(part));
    else lines.push(part.type === "text" ? part.text : "");
  }
  return [{ kind: "result", text: lines.join("\n") }, ...images];
}

function imagePart({ file }: MediaPart): TokenPart {
  return { kind: "image", head: file === null ? null : imageHead(file.data) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
