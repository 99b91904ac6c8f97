import { blocksOf, isWithheld, now, placeOf, type State, type View } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { blockCopies } from "../read/block-copies.ts";

/**
 * What must not be sent any more in a view, by what recognises it. A result of ours that holds any of it is
 * such a thing too.
 */
export async function withheldUnits(
  state: State,
  view: View,
  store: Pick<Store, "content">,
): Promise<readonly string[]> {
  const moment = now(state);
  const withheld = [...blocksOf(moment, view)].filter(({ id }) => {
    const place = placeOf(moment, view, id);
    return place !== null && isWithheld(place);
  });
  const copies = await blockCopies(
    state,
    withheld.map(({ id }) => id),
    store,
  );
  return [...withheld, ...copies].map(({ anchor }) => anchor);
}
