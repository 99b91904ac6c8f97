import type { BlockId, ContentHash, Result } from "../../base/index.ts";
import { ok } from "../../base/index.ts";
import { notesOf, now, type State } from "../../engine/index.ts";
import type { PurgeReport, Store } from "../../store/index.ts";
import { blockCopies } from "../read/block-copies.ts";

/**
 * Erases what is stored of some blocks: their contents, all shorter forms, the bytes they were sent with,
 * the answers they came in, and results of ours that showed them to a model. Bodies that held any of it
 * cannot be read any more.
 */
export async function purgeBlocks(
  store: Pick<Store, "purge" | "flush" | "bodies" | "content">,
  state: State,
  asked: readonly BlockId[],
): Promise<Result<PurgeReport>> {
  await store.flush();
  const copies = await blockCopies(state, asked, store);
  const blocks = [...asked, ...copies.map(({ id }) => id)];
  const own = blocks.flatMap((id) => contentsOf(state, id));
  const wanted = new Set<number>(blocks);
  const sent = [...state.units.entries()].flatMap(([, { shows, bytes }]) =>
    shows.some(({ block }) => wanted.has(block)) ? [bytes] : [],
  );
  const lines = await memoryLines(store, state, asked);
  const answers = await answersOf(store, state, blocks);
  if (!answers.ok) return answers;
  return await store.purge([...new Set([...own, ...sent, ...lines, ...answers.value])]);
}

/** Lines of ours that say a memory: they are no blocks, and belong to none. */
async function memoryLines(
  store: Pick<Store, "content">,
  state: State,
  asked: readonly BlockId[],
): Promise<readonly ContentHash[]> {
  const memories = asked.filter((id) => state.blocks.get(id)?.block.kind === "memory");
  const marks = memories.map((id) => Buffer.from(` memory #${id}, `));
  const lines: ContentHash[] = [];
  for (const [, { origin, shows, bytes }] of marks.length === 0 ? [] : state.units.entries()) {
    const stored = origin === "aperture" && shows.length === 0 ? await store.content(bytes) : null;
    const said = stored?.ok === true ? Buffer.from(stored.value) : null;
    if (said !== null && marks.some((mark) => said.includes(mark))) lines.push(bytes);
  }
  return lines;
}

function contentsOf(state: State, id: BlockId): readonly ContentHash[] {
  const content = state.blocks.get(id)?.block.content;
  const shorter = Object.values(notesOf(now(state), id)?.renditions ?? {});
  return [...(content === undefined ? [] : [content]), ...shorter.map((rendition) => rendition.content)];
}

/** An answer is stored as one content: what the model said in it cannot be erased from it alone. */
async function answersOf(
  store: Pick<Store, "bodies">,
  state: State,
  blocks: readonly BlockId[],
): Promise<Result<readonly ContentHash[]>> {
  const said = blocks
    .flatMap((id) => state.blocks.get(id)?.block ?? [])
    .filter(({ speaker }) => speaker === "model");
  const turns = new Set(said.map(({ stream, turn }) => `${stream} ${turn}`));
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
