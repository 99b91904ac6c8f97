import type { Tokens } from "../engine/frames/index.ts";
import { type Profile, profileOf } from "./family.ts";
import { imageSize, imageTokens } from "./image-tokens.ts";
import { type Feature, textShapeOf } from "./text-shape.ts";

/**
 * Bytes per token by model, as measured on recorded sessions: newer tokenizers have shorter tokens. First
 * match wins. People never see such an estimate without a mark.
 */
const bytesPerToken: readonly (readonly [pattern: RegExp, bytes: number])[] = [
  [/opus-4-[0-6]|sonnet-4-[0-6]|haiku-4|claude-3/, 2.8],
  [/claude/, 2.1],
  [/gpt|^o\d/, 3.3],
];
const bytesPerUnknownToken = 3;

/** The estimate if only the length is known. */
export function estimateTokens(bytes: number, model: string | null): Tokens {
  const known = bytesPerToken.find(([pattern]) => pattern.test(model ?? ""));
  return { count: Math.ceil(bytes / (known?.[1] ?? bytesPerUnknownToken)), exact: false };
}

/** The estimate by the shape of the text. Linear in its length; no vocabulary is loaded. */
export function estimateText(text: string, model: string | null): number {
  return Math.ceil(textTokens(text, profileOf(model)));
}

/** A part of a message, reduced to what its size depends on. */
export type TokenPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly text: string }
  | { readonly kind: "result"; readonly text: string }
  /** If the text is hidden, its size is estimated from the length of the signature. */
  | { readonly kind: "reasoning"; readonly text: string; readonly signatureLength: number }
  /** The first bytes of the image. Null if the request does not hold them. */
  | { readonly kind: "image"; readonly head: Uint8Array | null };

export function estimatePart(part: TokenPart, model: string | null): number {
  const profile = profileOf(model);
  switch (part.kind) {
    case "text":
      return Math.ceil(textTokens(part.text, profile));
    case "call":
    case "result":
      return Math.ceil(textTokens(part.text, profile) + profile.overhead[part.kind]);
    case "reasoning":
      if (part.text !== "") return Math.ceil(textTokens(part.text, profile));
      return Math.ceil(part.signatureLength * profile.signatureRate * profile.scale);
    case "image":
      return imageTokens(part.head === null ? null : imageSize(part.head), profile.family);
  }
}

export type RequestCounts = { readonly messages: number; readonly tools: number };

/** Tokens that a provider adds around the parts of a request. */
export function estimateOverhead({ messages, tools }: RequestCounts, model: string | null): number {
  const { overhead } = profileOf(model);
  const forTools = tools > 0 ? overhead.anyTool + tools * overhead.tool : 0;
  return overhead.request + messages * overhead.message + forTools;
}

function textTokens(text: string, { weights, scale }: Profile): number {
  const shape = textShapeOf(text);
  let sum = 0;
  for (const feature of Object.keys(shape) as Feature[]) sum += shape[feature] * weights[feature];
  return sum * scale;
}
