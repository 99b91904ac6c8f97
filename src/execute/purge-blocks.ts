import { type BlockId, type ContentHash, ok, type Result } from "../base/index.ts";
import type { State } from "../engine/index.ts";
import { attributesOf, now } from "../engine/moment/index.ts";
import { blockCopies } from "../recorder/index.ts";
import type { PurgeReport, Store } from "../store/index.ts";

/**
 * Erases the stored data of blocks: contents and renditions, the bytes they were sent with, the answers they
 * came in, and results of ours that showed them to a model. Bodies that held any of it become unreadable.
 */
export async function purgeBlocks(
  store: Pick<Store, "purge" | "flush" | "bodies" | "content">,
  state: State,
  requested: readonly BlockId[],
): Promise<Result<PurgeReport>> {
  await store.flush();
  const copies = await blockCopies(state, requested, store);
  const blocks = [...requested, ...copies.map(({ id }) => id)];
  const own = blocks.flatMap((id) => contentsOf(state, id));
  const purged = new Set<number>(blocks);
  const sent = [...state.units.entries()].flatMap(([, { shows, bytes }]) =>
    shows.some(({ block }) => purged.has(block)) ? [bytes] : [],
  );
  const lines = await memoryLines(store, state, requested);
  const answers = await answersOf(store, state, blocks);
  if (!answers.ok) return answers;
  return await store.purge([...new Set([...own, ...sent, ...lines, ...answers.value])]);
}

/** Contents of our memory lines, which belong to no block. */
async function memoryLines(
  store: Pick<Store, "content">,
  state: State,
  requested: readonly BlockId[],
): Promise<readonly ContentHash[]> {
  const memories = requested.filter((id) => state.blocks.get(id)?.block.kind === "memory");
  const memoryMarks = memories.map((id) => Buffer.from(` memory #${id}, `));
  const hashes: ContentHash[] = [];
  for (const [, { origin, shows, bytes }] of memoryMarks.length === 0 ? [] : state.units.entries()) {
    const stored = origin === "aperture" && shows.length === 0 ? await store.content(bytes) : null;
    const text = stored?.ok === true ? Buffer.from(stored.value) : null;
    if (text !== null && memoryMarks.some((mark) => text.includes(mark))) hashes.push(bytes);
  }
  return hashes;
}

function contentsOf(state: State, id: BlockId): readonly ContentHash[] {
  const content = state.blocks.get(id)?.block.content;
  const shorter = Object.values(attributesOf(now(state), id)?.renditions ?? {});
  return [...(content === undefined ? [] : [content]), ...shorter.map((rendition) => rendition.content)];
}

/** An answer is stored as one content, so a block of the model cannot be erased from it alone. */
async function answersOf(
  store: Pick<Store, "bodies">,
  state: State,
  blocks: readonly BlockId[],
): Promise<Result<readonly ContentHash[]>> {
  const modelBlocks = blocks
    .flatMap((id) => state.blocks.get(id)?.block ?? [])
    .filter(({ speaker }) => speaker === "model");
  const turns = new Set(modelBlocks.map(({ stream, turn }) => `${stream} ${turn}`));
  if (turns.size === 0) return ok([]);
  const exchanges = new Set<number>();
  for (const [, view] of state.views.entries()) {
    for (const [, sent] of view.sent.entries()) {
      if (turns.has(`${view.stream} ${sent.turn}`)) exchanges.add(sent.exchange);
    }
  }
  const bodies = await store.bodies(state.session);
  if (!bodies.ok) return bodies;
  const isAnswer = (side: string): boolean => side === "upstream-response" || side === "client-response";
  return ok(
    bodies.value
      .filter(({ exchange, side }) => exchanges.has(exchange) && isAnswer(side))
      .map(({ hash }) => hash),
  );
}
