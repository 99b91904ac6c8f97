/** The window size of models whose name matches the pattern. */
export type WindowRule = { readonly pattern: RegExp; readonly tokens: number };

/**
 * The first matching rule counts. If a size is too small, the fill shows above 100 % and room is made too
 * early; if it is too large, too late.
 */
export const windowRules: readonly WindowRule[] = [
  // Clients append the larger window to the name of a model that has two.
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

const defaultTokens = 200_000;

export function windowOf(model: string | null): number {
  return windowRules.find(({ pattern }) => pattern.test(model ?? ""))?.tokens ?? defaultTokens;
}
