import type { ContentHash } from "../base/index.ts";
import { ok, type Result } from "../base/index.ts";
import type { Appended, Batch, Store } from "../store/index.ts";

/** A store that can be told to write several batches as one. */
export type HeldStore = Store & {
  /** From now on nothing is written, until what is returned is called: then all of it at once, or nothing. */
  readonly hold: () => () => void;
};

type Waiting = { readonly batch: Batch; readonly settle: (result: Result<void>) => void };

/**
 * What belongs together is several frames, because some of it can be undone and some cannot. Killed between
 * two of them, we would do again what was done: so they reach the disk together. Whoever reads meanwhile
 * finds what waits.
 */
export function heldStore(store: Store): HeldStore {
  let holders = 0;
  let waiting: Waiting[] = [];
  const release = (): void => {
    const all = waiting;
    waiting = [];
    const appended = store.append(joined(all.map(({ batch }) => batch)));
    const durable = appended.accepted ? appended.durable : Promise.resolve(appended.refused);
    void durable.then((result) => {
      for (const { settle } of all) settle(result);
    });
  };
  const append = (batch: Batch): Appended => {
    if (holders === 0) return store.append(batch);
    const durable = new Promise<Result<void>>((settle) => waiting.push({ batch, settle }));
    return { accepted: true, durable };
  };
  const content = async (hash: ContentHash): Promise<Result<Uint8Array>> => {
    for (const { batch } of waiting)
      for (const one of batch.contents ?? []) if (one.hash === hash) return ok(one.bytes);
    return await store.content(hash);
  };
  const hold = (): (() => void) => {
    holders += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      holders -= 1;
      if (holders === 0 && waiting.length > 0) release();
    };
  };
  return { ...store, append, content, hold };
}

function joined(batches: readonly Batch[]): Batch {
  return {
    contents: batches.flatMap(({ contents = [] }) => contents),
    frames: batches.flatMap(({ frames = [] }) => frames),
    bodies: batches.flatMap(({ bodies = [] }) => bodies),
    snapshots: batches.flatMap(({ snapshots = [] }) => snapshots),
  };
}
