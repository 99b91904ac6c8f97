import { limits } from "../../base/index.ts";
import { taintEnd } from "../../commands/index.ts";
import { type Block, type BlockKind, blocksOf, type Change, type Excerpt } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { storedWords } from "../read/stored-words.ts";

type Asked = { readonly isTainted: boolean; readonly nonce: string };

/** What makes a turn suspect came in it, or in the rounds before: it is among the last that were read. */
const readBlocksMax = 100;
/** So much is shown behind the words that make us ask. */
const behindChars = 80;

const untrusted: readonly BlockKind[] = ["tool-result", "media"];
const ownKinds: readonly BlockKind[] = ["assistant", "reasoning", "tool-call", "memory", "notice"];

/**
 * Where the user can read what led to a question. Where content speaks in commands, that is the content; else
 * it is what the model said in the answer that asks.
 */
export async function sourceOf(
  store: Pick<Store, "content">,
  { moment, view }: Change,
  { isTainted, nonce }: Asked,
): Promise<Excerpt | null> {
  const blocks = [...blocksOf(moment, view)].slice(-readBlocksMax).reverse();
  return isTainted ? await contentSource(store, blocks, nonce) : await ownSource(store, blocks);
}

async function contentSource(
  store: Pick<Store, "content">,
  blocks: readonly Block[],
  nonce: string,
): Promise<Excerpt | null> {
  const isSuspect = ({ kind, taint }: Block): boolean => untrusted.includes(kind) || taint === "untrusted";
  for (const block of blocks.filter(isSuspect)) {
    const words = await wordsOf(store, block);
    const end = words === null ? null : taintEnd(words, nonce);
    if (words !== null && end !== null) return excerptOf(block, words, end + behindChars);
  }
  return null;
}

async function ownSource(store: Pick<Store, "content">, blocks: readonly Block[]): Promise<Excerpt | null> {
  const heard = blocks.findIndex(({ kind }) => !ownKinds.includes(kind));
  const said = blocks.slice(0, heard === -1 ? blocks.length : heard);
  for (const block of said.filter(({ kind }) => kind === "assistant")) {
    const words = await wordsOf(store, block);
    if (words !== null && words.trim() !== "") return excerptOf(block, words, words.length);
  }
  return null;
}

async function wordsOf(store: Pick<Store, "content">, { content, kind }: Block): Promise<string | null> {
  const stored = await store.content(content);
  return stored.ok ? storedWords(stored.value, kind) : null;
}

/** The last that fits before an end, cut between signs and never inside one. */
function excerptOf({ id }: Block, words: string, wanted: number): Excerpt {
  const end = Math.min(words.length, isInside(words, wanted) ? wanted - 1 : wanted);
  const from = Math.max(0, end - limits.excerptCharsMax);
  const start = isInside(words, from) ? from + 1 : from;
  return { block: id, start, length: end - start };
}

/** Whether a place lies between the two halves of one sign. */
function isInside(words: string, at: number): boolean {
  const unit = words.charCodeAt(at);
  return at > 0 && unit >= 0xdc00 && unit <= 0xdfff;
}
