/** How many tokens fit into the window of a model, by what its name contains. */
export type WindowRule = { readonly pattern: RegExp; readonly tokens: number };

/**
 * Data, to be refined as models come and go; the first rule that fits counts. Of a window given too small
 * more is shown than it is said to hold, and room is made earlier than need be; given too large, too late.
 */
export const windowRules: readonly WindowRule[] = [
  // Clients write the longer window of a model that has two behind its name.
  { pattern: /\[1m\]/i, tokens: 1_000_000 },
  { pattern: /haiku/i, tokens: 200_000 },
  { pattern: /fable|mythos/i, tokens: 1_000_000 },
  { pattern: /opus-4-(?:[7-9]|[1-9]\d)(?!\d)/i, tokens: 1_000_000 },
  { pattern: /(?:opus|sonnet)-(?:[5-9]|[1-9]\d)(?!\d)/i, tokens: 1_000_000 },
  { pattern: /(?:claude|sonnet|opus)/i, tokens: 200_000 },
  { pattern: /gemini/i, tokens: 1_000_000 },
  { pattern: /gpt-4o/i, tokens: 128_000 },
  { pattern: /^aperture-demo/, tokens: 200_000 },
];

const usualTokens = 200_000;

export function windowOf(model: string | null): number {
  return windowRules.find(({ pattern }) => pattern.test(model ?? ""))?.tokens ?? usualTokens;
}
