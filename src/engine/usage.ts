/** Tokens as the provider reported them. The prompt is the sum of the first three. */
export type Usage = {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
};
