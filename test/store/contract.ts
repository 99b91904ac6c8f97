import { afterEach, describe } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { bodiesContract, contentsContract, refusedBodiesContract } from "./contract-bodies.ts";
import { framesContract, refusedFramesContract } from "./contract-frames.ts";
import { emptyContract, invalidInputContract, recipeLimitContract, shapeContract } from "./contract-input.ts";
import {
  dropContract,
  erasingContract,
  gcContract,
  restContract,
  snapshotsContract,
} from "./contract-rest.ts";

/** How the suite opens stores and backups. */
export type StoreKind = {
  readonly open: () => Store;
  readonly openBackup: (path: string) => Store;
};

/** The contract of every store, whatever it keeps its data in. */
export function describeStore(name: string, kind: StoreKind): void {
  const opened: Store[] = [];
  const open = (): Store => {
    const store = kind.open();
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  describe(`${name}: frames`, () => {
    framesContract(open);
    refusedFramesContract(open);
  });
  describe(`${name}: invalid input and limits`, () => {
    shapeContract(open);
    emptyContract(open);
    invalidInputContract(open);
    recipeLimitContract(open);
  });
  describe(`${name}: contents`, () => contentsContract(open));
  describe(`${name}: bodies`, () => {
    bodiesContract(open);
    refusedBodiesContract(open);
  });
  describe(`${name}: snapshots`, () => snapshotsContract(open));
  describe(`${name}: purge and gc`, () => {
    erasingContract(open);
    gcContract(open);
    dropContract(open);
  });
  describe(`${name}: the rest`, () => restContract(open, kind.openBackup));
}
