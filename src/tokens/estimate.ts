import type { Tokens } from "../engine/index.ts";
import { type Profile, profileOf } from "./family.ts";
import { imageSize, imageTokens } from "./image.ts";
import { type Feature, shapeOf } from "./shape.ts";

/**
 * Bytes a token stands for, by model, as measured on recorded sessions: the newer the tokenizer, the shorter
 * its tokens. First match wins. An estimate to begin with, never shown without its mark.
 */
const bytesPerToken: readonly (readonly [pattern: RegExp, bytes: number])[] = [
  [/opus-4-[0-6]|sonnet-4-[0-6]|haiku-4|claude-3/, 2.8],
  [/claude/, 2.1],
  [/gpt|^o\d/, 3.3],
];
const bytesPerUnknownToken = 3;

/** For when only the length is known. */
export function estimateTokens(bytes: number, model: string | null): Tokens {
  const known = bytesPerToken.find(([pattern]) => pattern.test(model ?? ""));
  return { count: Math.ceil(bytes / (known?.[1] ?? bytesPerUnknownToken)), exact: false };
}

/** By what the text is made of. Linear in its length; nothing is loaded. */
export function estimateText(text: string, model: string | null): number {
  return Math.ceil(textTokens(text, profileOf(model)));
}

/** A thing in a message, as far as its size goes. */
export type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly text: string }
  | { readonly kind: "result"; readonly text: string }
  /** Where the text is kept back, the length of the signature tells how much there was. */
  | { readonly kind: "reasoning"; readonly text: string; readonly signatureLength: number }
  /** The beginning of the image is enough; null if it is somewhere else. */
  | { readonly kind: "image"; readonly head: Uint8Array | null };

export function estimatePart(part: Part, model: string | null): number {
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

export type RequestForm = { readonly messages: number; readonly tools: number };

/** What a provider puts around the parts of a request with so many messages and tools. */
export function estimateOverhead({ messages, tools }: RequestForm, model: string | null): number {
  const { overhead } = profileOf(model);
  const forTools = tools > 0 ? overhead.anyTool + tools * overhead.tool : 0;
  return overhead.request + messages * overhead.message + forTools;
}

function textTokens(text: string, { weights, scale }: Profile): number {
  const shape = shapeOf(text);
  let sum = 0;
  for (const feature of Object.keys(shape) as Feature[]) sum += shape[feature] * weights[feature];
  return sum * scale;
}
