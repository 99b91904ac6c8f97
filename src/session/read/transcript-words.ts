import type { Json, SessionId } from "../../base/index.ts";
import { factValue, type Level, levels, notesOf, type Place, wantedOf } from "../../engine/index.ts";
import { reworded, spokenIn, type Words } from "../../protocols/index.ts";
import { hintOf } from "../../render/index.ts";
import type { Store } from "../../store/index.ts";

export type WordedContent = {
  /** Null: it cannot be read, or says nothing any more. */
  readonly bytes: Uint8Array | null;
  readonly isPruned: boolean;
};
type From = { readonly store: Store; readonly session: SessionId };

/** A block's content in the words that are wanted of it. */
export async function wordedContent(from: From, place: Place): Promise<WordedContent> {
  const stored = await from.store.content(place.block.content);
  const bytes = stored.ok ? stored.value : null;
  const wanted = wantedOf(place);
  if (wanted === "placeholder") return { bytes: await prunedContent(from, place, bytes), isPruned: true };
  if (bytes === null || wanted === "absent") return { bytes, isPruned: false };
  const words = await levelWords(from.store, place, wanted);
  return { bytes: (words === null ? null : reworded(bytes, words)) ?? bytes, isPruned: false };
}

/** Where a level has no words of its own, the next one above it that has. */
async function levelWords(store: Store, place: Place, wanted: Level): Promise<Words | null> {
  const renditions = notesOf(place.moment, place.block.id)?.renditions ?? {};
  for (const level of levels.slice(1, levels.indexOf(wanted) + 1).reverse()) {
    const rendition = renditions[level];
    const stored = rendition === undefined ? null : await store.content(rendition.content);
    if (stored?.ok !== true) continue;
    const text = Buffer.from(stored.value).toString("utf8");
    if (place.block.kind !== "tool-call") return { text, keepsMedia: level === "trimmed" };
    return { input: JSON.parse(text) as { readonly [key: string]: Json } }; // written by us, as an object
  }
  return null;
}

/**
 * What stands for a block that is not to be shown. A call stays, since its result has to answer something;
 * what the model said goes, since a line of ours in its mouth would teach it to write such lines.
 */
async function prunedContent(
  { store, session }: From,
  place: Place,
  bytes: Uint8Array | null,
): Promise<Uint8Array | null> {
  const isKept = bytes !== null && !factValue(place, "withhold");
  switch (place.block.kind) {
    case "assistant":
      return null;
    case "tool-call": {
      const short = isKept ? await levelWords(store, place, "minimal") : { input: {} };
      return bytes === null || short === null ? bytes : reworded(bytes, short);
    }
    default: {
      const text = prunedLine(place, session, isKept ? bytes : null);
      return bytes === null
        ? Buffer.from(JSON.stringify({ type: "text", text }))
        : reworded(bytes, { text, keepsMedia: false });
    }
  }
}

function prunedLine(place: Place, session: SessionId, bytes: Uint8Array | null): string {
  const { id, kind } = place.block;
  const why = factValue(place, "archive")?.reason ?? "";
  const reason = why === "" ? "" : ` (${why})`;
  if (bytes === null) return `[left out: #${id} ${kind}${reason}; it is not to be sent any more]`;
  const spoken = spokenIn(bytes);
  const hint = spoken === null || spoken.type === "call" ? "" : hintOf(spoken.text);
  const gist = hint === "" ? "" : `: "${hint}"`;
  return `[left out: #${id} ${kind}${reason}${gist}; \`aperture expand ${id} --session ${session}\` prints it]`;
}
