import type { Tokens } from "../engine/index.ts";

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

export function estimateTokens(bytes: number, model: string | null): Tokens {
  const known = bytesPerToken.find(([pattern]) => pattern.test(model ?? ""));
  return { count: Math.ceil(bytes / (known?.[1] ?? bytesPerUnknownToken)), exact: false };
}
