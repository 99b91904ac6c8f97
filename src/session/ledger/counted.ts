import type { Usage } from "../../engine/index.ts";
import type { Place } from "./place.ts";

/** What a provider has counted for a prompt that ended at a leaf, and for what it answered. */
export type CountedPrompt = { readonly leaf: Place; readonly prompt: number; readonly answer: number };

export function countedBy(usage: Usage | null, leaf: Place): CountedPrompt | null {
  const prompt = usage === null ? 0 : usage.input + usage.cacheRead + usage.cacheWrite;
  return usage === null || prompt === 0 ? null : { leaf, prompt, answer: usage.output };
}
