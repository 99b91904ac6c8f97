import { blockId, must, ok, type Result } from "../base/index.ts";
import { isCommandTool } from "../commands/index.ts";
import type { Part } from "../content/index.ts";
import type { AddedBlock, Shown } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import {
  attributesOf,
  type BlockView,
  blockViewOf,
  lastSentTurn,
  type Moment,
  sentPath,
  viewBlocks,
  wantedOf,
} from "../engine/moment/index.ts";
import { modelIn, viewIn } from "../log/index.ts";
import { readPart } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";
import type { TranscriptAnswer, TranscriptRow } from "./answers/context-answers.ts";
import { tokensAs } from "./block-levels.ts";
import { chooseStream } from "./choose-stream.ts";
import { transcriptContent } from "./transcript-content.ts";
import { closePairs } from "./transcript-pairs.ts";

const userKinds: readonly string[] = ["user", "tool-result", "media"];
const modelKinds: readonly string[] = ["assistant", "tool-call"];

/**
 * The context of a model as a client must keep it to go on without us: every block at its wanted level. It
 * has no reasoning, because a provider accepts it only behind its original prefix, and no calls of our tools.
 */
export async function transcriptAnswer(
  store: Store,
  moment: Moment,
  requested: number | undefined,
): Promise<Result<TranscriptAnswer>> {
  const chosen = chooseStream(moment, requested);
  if (!chosen.ok) return chosen;
  const stream = chosen.value;
  const view = stream === null ? null : viewIn(moment, stream);
  const blockViews = view === null ? [] : blocksInContext(moment, view);
  const rows: TranscriptRow[] = [];
  let pruned = 0;
  for (const blockView of blockViews) {
    const role = roleOf(blockView.block);
    if (role === null) continue;
    const { bytes, isPruned } = await transcriptContent({ store, session: moment.state.session }, blockView);
    if (isPruned) pruned += 1;
    const part = bytes === null ? null : readPart(bytes, blockView.block);
    if (part !== null && !isOwnCall(part)) rows.push({ role, content: [part] });
  }
  const reasoning = blockViews.filter(({ block }) => block.kind === "reasoning").length;
  const { session, identity } = moment.state;
  return ok({
    session,
    seq: moment.seq,
    stream: stream?.id ?? null,
    client: identity?.client ?? "unknown",
    model: modelIn(moment, stream),
    rows: closePairs(rows),
    tokens: sizeOf(blockViews, (blockView) => wantedOf(blockView)),
    rawTokens: sizeOf(blockViews, () => "original"),
    left: { reasoning, pruned },
  });
}

/** Reasoning does not count: no client can continue it elsewhere. */
function sizeOf(blockViews: readonly BlockView[], as: (blockView: BlockView) => Shown): number {
  return blockViews.reduce((sum, blockView) => {
    const attributes = attributesOf(blockView.moment, blockView.block.id);
    const isIncluded = attributes !== null && roleOf(blockView.block) !== null;
    return sum + (isIncluded ? (tokensAs(attributes, as(blockView)) ?? 0) : 0);
  }, 0);
}

/** The blocks of the last request in its order, then the blocks added since. */
function blocksInContext(moment: Moment, view: View): readonly BlockView[] {
  const { units } = moment.state;
  const sent = sentPath(moment, view).flatMap((id) =>
    must(units.get(id), "a path is made of sent units").shows.map(({ block }) => block),
  );
  const sentSeq = lastSentTurn(moment, view)?.seq ?? 0;
  const since = [...viewBlocks(moment, view)].filter(({ addedSeq }) => addedSeq > sentSeq);
  const ids = [...new Set([...sent, ...since.map(({ id }) => id)])];
  return ids.flatMap((id) => blockViewOf(moment, view, blockId(id)) ?? []);
}

function roleOf({ kind }: AddedBlock): TranscriptRow["role"] | null {
  if (userKinds.includes(kind)) return "user";
  return modelKinds.includes(kind) ? "assistant" : null;
}

/** Whether it is a call of our tools. Its result is dropped later, because it then has no call. */
function isOwnCall(part: Part): boolean {
  return part.type === "call" && isCommandTool(part.name);
}
