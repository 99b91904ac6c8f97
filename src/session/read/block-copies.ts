import { type AddedBlock, blockOf, now, type State } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { storedWords } from "./stored-words.ts";

/**
 * Results of ours in which a model was shown some of these blocks: what must not be sent or kept of the
 * blocks must not be in those either. A result may hold an earlier one, so they are looked at in order.
 */
export async function blockCopies(
  state: State,
  blocks: readonly number[],
  store: Pick<Store, "content">,
): Promise<readonly AddedBlock[]> {
  const wanted = new Set(blocks);
  const copies = new Map<number, AddedBlock>();
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

/** Blocks whose words stand in a text, by the line of ours before each. In content such a line is marked. */
function shownIn(text: string): readonly number[] {
  const lines = text.matchAll(/^\[\w{2,16} recalled \S+ #(\d+), message \d+, /gm);
  return [...lines].map(([, block]) => Number(block));
}
