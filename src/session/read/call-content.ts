import { type Place, pairOf } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { answeredCall } from "./stored-words.ts";

/** The call that a result answers, as it is stored; null where it is not there. */
export async function callContent(
  store: Store,
  place: Place,
  result: Uint8Array,
): Promise<Uint8Array | null> {
  const id = answeredCall(result);
  const call = id === null ? undefined : pairOf(place).find(({ block }) => block.anchor === `call:${id}`);
  const stored = call === undefined ? null : await store.content(call.block.content);
  return stored?.ok === true ? stored.value : null;
}
