import type { Json, SessionId } from "../base/index.ts";
import { textContent } from "../content/index.ts";
import { type Level, levels } from "../engine/frames/index.ts";
import { attributesOf, type BlockView, factValue, wantedOf } from "../engine/moment/index.ts";
import { hintOf } from "../notes/index.ts";
import { readEditable, replaceStored, type UnitReplacement } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";

export type TranscriptContent = {
  /** Null if it cannot be read, or the transcript leaves it out. */
  readonly bytes: Uint8Array | null;
  readonly isPruned: boolean;
};
type TranscriptDeps = { readonly store: Store; readonly session: SessionId };

/** A block's content at its wanted level. */
export async function transcriptContent(
  deps: TranscriptDeps,
  blockView: BlockView,
): Promise<TranscriptContent> {
  const stored = await deps.store.content(blockView.block.content);
  const bytes = stored.ok ? stored.value : null;
  const wanted = wantedOf(blockView);
  if (wanted === "placeholder") return { bytes: await prunedContent(deps, blockView, bytes), isPruned: true };
  if (bytes === null || wanted === "absent") return { bytes, isPruned: false };
  const replacement = await levelReplacement(deps.store, blockView, wanted);
  return {
    bytes: (replacement === null ? null : replaceStored(bytes, blockView.block, replacement)) ?? bytes,
    isPruned: false,
  };
}

/** The rendition of a level, or of the next level above it that has one. */
async function levelReplacement(
  store: Store,
  blockView: BlockView,
  wanted: Level,
): Promise<UnitReplacement | null> {
  const renditions = attributesOf(blockView.moment, blockView.block.id)?.renditions ?? {};
  for (const level of levels.slice(1, levels.indexOf(wanted) + 1).reverse()) {
    const rendition = renditions[level];
    const stored = rendition === undefined ? null : await store.content(rendition.content);
    if (stored?.ok !== true) continue;
    const text = Buffer.from(stored.value).toString("utf8");
    if (blockView.block.kind !== "tool-call") return { text, keepsMedia: level === "trimmed" };
    return { input: JSON.parse(text) as { readonly [key: string]: Json } }; // written by us, as an object
  }
  return null;
}

/**
 * The content that replaces a pruned block. A call stays, because its result must answer a call. Text of the
 * model is left out: a line of ours in its place would teach the model to write such lines.
 */
async function prunedContent(
  { store, session }: TranscriptDeps,
  blockView: BlockView,
  bytes: Uint8Array | null,
): Promise<Uint8Array | null> {
  const isKept = bytes !== null && !factValue(blockView, "withhold");
  switch (blockView.block.kind) {
    case "assistant":
      return null;
    case "tool-call": {
      const short = isKept ? await levelReplacement(store, blockView, "minimal") : { input: {} };
      return bytes === null || short === null ? bytes : replaceStored(bytes, blockView.block, short);
    }
    default: {
      const text = prunedLine(blockView, session, isKept ? bytes : null);
      return bytes === null
        ? textContent(text)
        : replaceStored(bytes, blockView.block, { text, keepsMedia: false });
    }
  }
}

function prunedLine(blockView: BlockView, session: SessionId, bytes: Uint8Array | null): string {
  const { id, kind } = blockView.block;
  const why = factValue(blockView, "archive")?.reason ?? "";
  const reason = why === "" ? "" : ` (${why})`;
  if (bytes === null) return `[left out: #${id} ${kind}${reason}; it is not to be sent any more]`;
  const spoken = readEditable(bytes, blockView.block);
  const hint = spoken === null || spoken.type === "call" ? "" : hintOf(spoken.text);
  const gist = hint === "" ? "" : `: "${hint}"`;
  return `[left out: #${id} ${kind}${reason}${gist}; \`aperture expand ${id} --session ${session}\` prints it]`;
}
