import { type AddedBlock, blockOf, now, type State } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { storedWords } from "./stored-words.ts";

type Contents = Pick<Store, "content">;

/**
 * Results of ours in which a model was shown some of these blocks, and calls that have noted them: what must
 * not be sent or kept of the blocks must not be in those either. A result may hold an earlier one, so they
 * are looked at in order.
 */
export async function blockCopies(
  state: State,
  blocks: readonly number[],
  store: Contents,
): Promise<readonly AddedBlock[]> {
  const wanted = new Set(blocks);
  const copies = new Map<number, AddedBlock>();
  for (const block of await notingCalls(state, wanted, store)) copies.set(block.id, block);
  for (const [, { origin, shows }] of blocks.length === 0 ? [] : state.units.entries()) {
    for (const { block: id } of origin === "aperture" ? shows : []) {
      const block = copies.has(id) || wanted.has(id) ? null : blockOf(now(state), id);
      const stored = block === null ? null : await store.content(block.content);
      if (block === null || stored?.ok !== true) continue;
      if (!shownIn(storedWords(stored.value, block.kind) ?? "").some((one) => wanted.has(one))) continue;
      copies.set(id, block);
      wanted.add(id);
    }
  }
  return [...copies.values()];
}

/** A memory of the model stands in the call that has noted it, in the same turn. */
async function notingCalls(
  state: State,
  wanted: ReadonlySet<number>,
  store: Contents,
): Promise<readonly AddedBlock[]> {
  const calls: AddedBlock[] = [];
  for (const memory of blocksIn(state, "memory").filter(({ id }) => wanted.has(id))) {
    const text = await wordsIn(memory, store);
    if (text === null || text === "") continue;
    const said = JSON.stringify(text).slice(1, -1);
    const { stream, turn } = memory;
    const near = blocksIn(state, "tool-call").filter((one) => one.stream === stream && one.turn === turn);
    for (const call of near) if ((await wordsIn(call, store))?.includes(said) === true) calls.push(call);
  }
  return calls.filter(({ id }) => !wanted.has(id));
}

function blocksIn(state: State, kind: AddedBlock["kind"]): readonly AddedBlock[] {
  return [...state.blocks.entries()].flatMap(([, { block }]) => (block.kind === kind ? [block] : []));
}

async function wordsIn({ content, kind }: AddedBlock, store: Contents): Promise<string | null> {
  const stored = await store.content(content);
  return stored.ok ? storedWords(stored.value, kind) : null;
}

/** Blocks whose words stand in a text, by the line of ours before each. In content such a line is marked. */
function shownIn(text: string): readonly number[] {
  const lines = text.matchAll(/^\[\w{2,16} recalled \S+ #(\d+), message \d+, /gm);
  return [...lines].map(([, block]) => Number(block));
}
