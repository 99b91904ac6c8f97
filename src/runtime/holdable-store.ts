import type { ContentHash } from "../base/index.ts";
import { ok, type Result } from "../base/index.ts";
import type { AppendResult, Batch, Store } from "../store/index.ts";

/** A store that can write several batches as one. */
export type HoldableStore = Store & {
  /**
   * Holds back all writes until the returned function is called; then writes all of them at once, or none.
   */
  readonly hold: () => () => void;
};

type HeldBatch = { readonly batch: Batch; readonly settle: (result: Result<void>) => void };

/**
 * A command is several frames, because some of its changes can be undone and some cannot. A process killed
 * between two of them would carry the command out again after its restart, so they reach the disk together.
 * Readers find the held content meanwhile.
 */
export function holdableStore(store: Store): HoldableStore {
  let holders = 0;
  let held: HeldBatch[] = [];
  const release = (): void => {
    const batches = held;
    held = [];
    const appended = store.append(joinBatches(batches.map(({ batch }) => batch)));
    const durable = appended.accepted ? appended.durable : Promise.resolve(appended.refused);
    void durable.then((result) => {
      for (const { settle } of batches) settle(result);
    });
  };
  const append = (batch: Batch): AppendResult => {
    if (holders === 0) return store.append(batch);
    const durable = new Promise<Result<void>>((settle) => held.push({ batch, settle }));
    return { accepted: true, durable };
  };
  const content = async (hash: ContentHash): Promise<Result<Uint8Array>> => {
    for (const { batch } of held)
      for (const one of batch.contents ?? []) if (one.hash === hash) return ok(one.bytes);
    return await store.content(hash);
  };
  const hold = (): (() => void) => {
    holders += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      holders -= 1;
      if (holders === 0 && held.length > 0) release();
    };
  };
  return { ...store, append, content, hold };
}

function joinBatches(batches: readonly Batch[]): Batch {
  return {
    contents: batches.flatMap(({ contents = [] }) => contents),
    frames: batches.flatMap(({ frames = [] }) => frames),
    bodies: batches.flatMap(({ bodies = [] }) => bodies),
    snapshots: batches.flatMap(({ snapshots = [] }) => snapshots),
  };
}
