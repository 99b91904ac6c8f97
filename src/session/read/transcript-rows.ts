import type { Json } from "../../base/index.ts";

/** A message in the form of the Messages API: who says it, and its content blocks. */
export type TranscriptRow = { readonly role: "user" | "assistant"; readonly content: readonly Json[] };
export type TranscriptAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly stream: number | null;
  readonly client: string;
  readonly model: string | null;
  readonly rows: readonly TranscriptRow[];
  /** About what it takes, and what the client's own history of the same takes. */
  readonly tokens: number;
  readonly rawTokens: number;
  /** How many blocks are not in it: reasoning, and what stands there as one line only. */
  readonly left: { readonly reasoning: number; readonly pruned: number };
};
