import type { ModelPrices } from "../../src/policy/index.ts";

/** What most models charge, in round numbers. */
export const somePrices: ModelPrices = {
  family: "Example",
  provider: "anthropic",
  inputUsd: 5,
  output: 5,
  read: 0.1,
  cache: { write: 1.25, lifetimeMs: 300_000 },
  longCache: null,
  rule: { kind: "marks", tokensMin: 1_024, stepTokens: 1, marksMax: 4, lookBack: 20 },
  longPrompt: null,
  bindsReasoning: false,
  hasContextEdits: true,
  assumed: [],
};
