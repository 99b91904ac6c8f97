export { LexicalIndex } from "./lexical-index.ts";
export type { RecallExcerpt, RecallHit } from "./recall-index.ts";
