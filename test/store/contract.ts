import { afterEach, describe } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { bodiesContract, contentsContract, refusedBodiesContract } from "./contract-bodies.ts";
import { bombContract, doorContract, emptyContract, nonsenseContract } from "./contract-door.ts";
import { framesContract, refusedFramesContract } from "./contract-frames.ts";
import {
  dropContract,
  erasingContract,
  gcContract,
  restContract,
  snapshotsContract,
} from "./contract-rest.ts";

/** How the suite makes stores, and opens what `backup` wrote. */
export type StoreKind = {
  readonly open: () => Store;
  readonly openBackup: (path: string) => Store;
};

/** What every store promises, whatever it keeps its data in. */
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
  describe(`${name}: at the door`, () => {
    doorContract(open);
    emptyContract(open);
    nonsenseContract(open);
    bombContract(open);
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
