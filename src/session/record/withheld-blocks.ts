import { blocksOf, isWithheld, now, placeOf, type State, type View } from "../../engine/index.ts";
import { textBlock } from "../../protocols/index.ts";
import type { Store } from "../../store/index.ts";
import type { WithheldUnit } from "../desk-port.ts";
import { jsonIn } from "../read/wire-look.ts";

const words = "[withheld by the user]";

/** What must not be sent any more in a view, by what recognises it, with what stands in its place. */
export async function withheldUnits(
  state: State,
  view: View,
  store: Pick<Store, "content">,
): Promise<readonly WithheldUnit[]> {
  const moment = now(state);
  const units: WithheldUnit[] = [];
  for (const { id, anchor, content } of blocksOf(moment, view)) {
    const place = placeOf(moment, view, id);
    if (place === null || !isWithheld(place)) continue;
    const stored = await store.content(content);
    units.push({ key: anchor, bytes: instead(stored.ok ? jsonIn(stored.value) : undefined) });
  }
  return units;
}

/** A call stays a call and a result a result: a provider wants each of them. */
function instead(block: unknown): Uint8Array {
  const { type, id, name, tool_use_id } = (block ?? {}) as Readonly<Record<string, unknown>>;
  if (type === "tool_use") return Buffer.from(JSON.stringify({ type, id, name, input: {} }));
  if (type === "tool_result") return Buffer.from(JSON.stringify({ type, tool_use_id, content: words }));
  return textBlock(words);
}
