import type { Json } from "../../base/index.ts";
import type { Block } from "../../engine/frames/index.ts";
import type { Moment } from "../../engine/moment/index.ts";
import { withoutNonce } from "../../notes/index.ts";
import type { WireBlock } from "../provider.ts";
import { wire } from "../runtime-protocol.ts";
import { isNotBlank, wellFormed } from "../sendable.ts";
import { isBlockFields, pictureProblem, sendableBlock } from "../sendable-block.ts";
import type { SpaceDraft } from "../space-draft.ts";
import type { ToolAnswer } from "../tool.ts";

/** The outcome of a tool call. */
export type ToolOutcome = {
  readonly content: ToolAnswer;
  readonly isError: boolean;
  /** True if a tool was run for the call. */
  readonly hasRun?: boolean;
};

export function failedOutcome(content: string): ToolOutcome {
  return { content, isError: true };
}

/**
 * Adds the result of a call, as a pair with it. All results are added here, because a call has only one: a
 * provider that finds two refuses this prompt and every later one. A second result is left out.
 */
export function addResult(
  draft: SpaceDraft,
  moment: Moment,
  { call, content, isError }: ToolOutcome & { readonly call: Block },
): void {
  if (hasResult(moment, call)) return;
  const { anchor, pair, stream, speaker } = call;
  const { bytes } = wire.write.result({ callId: anchor, content: wellFormed(content), isError });
  draft.addBlock({ kind: "tool-result", taint: "untrusted", stream, speaker, anchor, pair, bytes });
}

export function hasResult({ state }: Moment, { pair, anchor }: Pick<Block, "pair" | "anchor">): boolean {
  const group = pair === null ? [] : (state.pairs.get(pair) ?? []);
  return group.some((id) => {
    const block = state.blocks.get(id)?.block;
    return block?.kind === "tool-result" && block.anchor === anchor;
  });
}

/**
 * Reads the value that a tool returned, which may not have the type it declares: a text, or blocks that may
 * stand in a result. A list of other objects with a `type` is data and becomes JSON. Throws if the value
 * cannot be stored or shown; it must be noticed here, where the call can still fail.
 */
export function readToolAnswer(returned: unknown): ToolAnswer {
  if (typeof returned === "string") return returned;
  const json = JSON.stringify(returned) ?? "";
  const plain = json === "" ? null : (JSON.parse(json) as Json);
  const all: readonly Json[] = Array.isArray(plain) ? plain : [plain];
  const problem = all.map(pictureProblem).find((one) => one !== null);
  if (problem !== undefined) throw new Error(problem);
  const blocks = Array.isArray(plain) ? all.map(sendableBlock) : [null];
  return blocks.every((block) => block !== null) ? blocks.filter(isNotBlank) : json;
}

/** Removes the nonce: only our own notes may carry it, so that a result cannot imitate a speaker. */
export function stripNonce(answer: ToolAnswer, nonce: string): ToolAnswer {
  if (typeof answer === "string") return withoutNonce(answer, nonce);
  return answer.map((block) => withoutNonceDeep(block, nonce) as WireBlock); // only its strings change
}

/** Removes the nonce from all strings except base64 data, which is not read as text and would be damaged. */
function withoutNonceDeep(value: Json, nonce: string): Json {
  if (typeof value === "string") return withoutNonce(value, nonce);
  if (Array.isArray(value)) return value.map((one) => withoutNonceDeep(one, nonce));
  if (!isBlockFields(value) || value["type"] === "base64") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withoutNonceDeep(field, nonce)]),
  );
}
