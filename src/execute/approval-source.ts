import { limits } from "../base/index.ts";
import { taintEnd } from "../commands/index.ts";
import type { Block, BlockKind, BlockSpan } from "../engine/frames/index.ts";
import type { ChangeContext } from "../engine/index.ts";
import { viewBlocks } from "../engine/moment/index.ts";
import { contentText } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";

/** Tainting content came in this turn or its rounds, so it is among the newest blocks. */
const blocksSearchedMax = 100;
/** Characters quoted after the suspicious words. */
const charsAfter = 80;

const untrusted: readonly BlockKind[] = ["tool-result", "media"];
const ownKinds: readonly BlockKind[] = ["assistant", "reasoning", "tool-call", "memory", "notice"];

/**
 * Finds the text that led to an approval request, for the user to read. In a tainted turn that is the content
 * that looks like commands; otherwise it is the model's text in the same answer.
 */
export async function findApprovalSource(
  store: Pick<Store, "content">,
  { moment, view }: ChangeContext,
  { isTainted, nonce }: { readonly isTainted: boolean; readonly nonce: string },
): Promise<BlockSpan | null> {
  const blocks = [...viewBlocks(moment, view)].slice(-blocksSearchedMax).reverse();
  return isTainted ? await taintingSource(store, blocks, nonce) : await answerSource(store, blocks);
}

async function taintingSource(
  store: Pick<Store, "content">,
  blocks: readonly Block[],
  nonce: string,
): Promise<BlockSpan | null> {
  const isSuspect = ({ kind, taint }: Block): boolean => untrusted.includes(kind) || taint === "untrusted";
  for (const block of blocks.filter(isSuspect)) {
    const text = await storedTextOf(store, block);
    const end = text === null ? null : taintEnd(text, nonce);
    if (text !== null && end !== null) return spanBefore(block, text, end + charsAfter);
  }
  return null;
}

async function answerSource(
  store: Pick<Store, "content">,
  blocks: readonly Block[],
): Promise<BlockSpan | null> {
  const firstForeign = blocks.findIndex(({ kind }) => !ownKinds.includes(kind));
  const answerBlocks = blocks.slice(0, firstForeign === -1 ? blocks.length : firstForeign);
  for (const block of answerBlocks.filter(({ kind }) => kind === "assistant")) {
    const text = await storedTextOf(store, block);
    if (text !== null && text.trim() !== "") return spanBefore(block, text, text.length);
  }
  return null;
}

async function storedTextOf(store: Pick<Store, "content">, block: Block): Promise<string | null> {
  const stored = await store.content(block.content);
  return stored.ok ? contentText(stored.value, block) : null;
}

/** The longest allowed span before an end, cut between characters. */
function spanBefore({ id }: Block, text: string, wantedEnd: number): BlockSpan {
  const end = Math.min(text.length, isInsideCharacter(text, wantedEnd) ? wantedEnd - 1 : wantedEnd);
  const from = Math.max(0, end - limits.excerptCharsMax);
  const start = isInsideCharacter(text, from) ? from + 1 : from;
  return { block: id, start, length: end - start };
}

/** Whether an index lies between the two halves of a surrogate pair. */
function isInsideCharacter(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff;
}
