import { type BlockId, type SessionId, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import { type ChangeContext, changes, type Proposal } from "../../src/engine/index.ts";
import type { SessionRecorder } from "../../src/recorder/index.ts";
import type { Store } from "../../src/store/index.ts";
import type { GoldenAct } from "./session-file.ts";

export type ActPlace = {
  readonly recorder: SessionRecorder;
  readonly store: Store;
  readonly session: SessionId;
};

/** What the user does, by the words that the blocks hold, through the same door as the control API. */
export async function actOnWords(place: ActPlace, act: GoldenAct): Promise<void> {
  const { recorder, store, session } = place;
  await store.flush();
  const frames = unwrap(await store.frames({ session, after: 0, limit: 1000 }));
  const found = await Promise.all(act.words.map((words) => blocksWith(store, frames, words)));
  const proposal = unwrap(
    await recorder.act(session, "main", (change) => proposalFor(act, change, found.flat())),
  );
  if (proposal.skipped.length > 0) throw new Error(`left alone: ${JSON.stringify(proposal.skipped)}`);
}

function proposalFor(act: GoldenAct, change: ChangeContext, blocks: readonly BlockId[]): Proposal {
  switch (act.act) {
    case "select":
      return changes.select(change, blocks);
    case "pin":
      return changes.pin(change, blocks, "top");
    case "unpin":
      return changes.unpin(change, blocks);
    case "archive":
      return unwrap(changes.archive(change, blocks, act.reason));
  }
}

async function blocksWith(
  store: Store,
  frames: readonly Frame[],
  words: string,
): Promise<readonly BlockId[]> {
  const found: BlockId[] = [];
  for (const delta of frames.flatMap(({ deltas }) => deltas)) {
    if (delta.type !== "block-added") continue;
    const content = unwrap(await store.content(delta.block.content));
    if (Buffer.from(content).includes(words)) found.push(delta.block.id);
  }
  if (found.length === 0) throw new Error(`no block says "${words}"`);
  return found;
}
