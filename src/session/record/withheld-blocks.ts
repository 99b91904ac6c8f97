import {
  type AddedBlock,
  blocksOf,
  type Delta,
  isWithheld,
  now,
  placeOf,
  type State,
  type View,
} from "../../engine/index.ts";
import { memoryWords } from "../../render/index.ts";
import type { Store } from "../../store/index.ts";
import { blockCopies } from "../read/block-copies.ts";
import { storedWords } from "../read/stored-words.ts";
import { printOf, type TextPrint } from "../text-print.ts";
import type { WithheldSession } from "../withheld-session.ts";
import { sessionName } from "./session-key.ts";

type Contents = Pick<Store, "content">;

/** Whether it may have changed what must not be sent. */
export function isWithholding({ type }: Delta): boolean {
  return type === "withhold-set" || type === "block-purged";
}

/**
 * What must not be sent any more in a view, by what recognises it. A result of ours that holds any of it is
 * such a thing too.
 */
export async function withheldUnits(state: State, view: View, store: Contents): Promise<readonly string[]> {
  return (await withheldBlocks(state, view, store)).map(({ anchor }) => anchor);
}

export function withholdsAny(state: State): boolean {
  return [...state.views.entries()].some(([, view]) => withheldIds(state, view).length > 0);
}

/** The same for all views of a session, with what its texts are found by in others; null: it is nobody's. */
export async function withheldIn(state: State, store: Contents): Promise<WithheldSession | null> {
  const { identity, session } = state;
  if (identity === null) return null;
  const prints = new Map<string, TextPrint | null>();
  for (const [, view] of state.views.entries()) {
    for (const block of await withheldBlocks(state, view, store))
      if ((prints.get(block.anchor) ?? null) === null) prints.set(block.anchor, await printIn(block, store));
  }
  const units = [...prints].map(([key, print]) => ({ key, print }));
  const { owner, upstream, client, key } = identity;
  return { session, owner, upstream, client, name: sessionName(key), units };
}

async function withheldBlocks(state: State, view: View, store: Contents): Promise<readonly AddedBlock[]> {
  const withheld = withheldIds(state, view);
  const copies = await blockCopies(
    state,
    withheld.map(({ id }) => id),
    store,
  );
  return [...withheld, ...copies];
}

function withheldIds(state: State, view: View): readonly AddedBlock[] {
  const moment = now(state);
  return [...blocksOf(moment, view)].filter(({ id }) => {
    const place = placeOf(moment, view, id);
    return place !== null && isWithheld(place);
  });
}

/**
 * Clients join nothing but what was said, and a memory stands in lines of ours; the rest is known by its key
 * in whatever form.
 */
async function printIn({ kind, content }: AddedBlock, store: Contents): Promise<TextPrint | null> {
  if (kind !== "user" && kind !== "assistant" && kind !== "memory") return null;
  const stored = await store.content(content);
  const said = stored.ok ? (storedWords(stored.value, kind) ?? "") : "";
  return printOf(kind === "memory" ? memoryWords(said) : said);
}
