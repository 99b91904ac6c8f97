export { type HitsAsked, hitsText, hitText, type ShownHit } from "./hit-text.ts";
export { LexicalIndex, type LexicalOptions } from "./lexical-index.ts";
export type { Excerpt, RecallAsked, RecallHit, RecallIndex, RecallSource } from "./recall-index.ts";
