import { fail } from "../../src/base/index.ts";
import { type Batch, openMemoryStore, type Store } from "../../src/store/index.ts";

/** A store that knows what it was given, batch by batch: each is written as a whole or not at all. */
export type CrashStore = Store & {
  readonly batches: readonly Batch[];
  /** What a disk holds if the process ends after so many batches. */
  readonly after: (batches: number) => Promise<Store>;
  /** From now on nothing is accepted, until it is told to again. */
  refuses: boolean;
};

export function crashStore(): CrashStore {
  const inner = openMemoryStore();
  const batches: Batch[] = [];
  const store: CrashStore = {
    ...inner,
    batches,
    refuses: false,
    append: (batch) => {
      if (store.refuses)
        return { accepted: false, refused: fail("AP_STORE_QUEUE_FULL", { frames: 0, bytes: 0 }) };
      batches.push(batch);
      return inner.append(batch);
    },
    after: async (count) => {
      const copy = openMemoryStore();
      for (const batch of batches.slice(0, count)) copy.append(batch);
      await copy.flush();
      return copy;
    },
  };
  return store;
}
