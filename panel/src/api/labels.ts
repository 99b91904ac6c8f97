import { useEffect } from "react";
import { createStore, useStore } from "../base/store.ts";
import { read } from "./client.ts";
import type { RouteAnswers } from "./contract.ts";

/** Labels of blocks by number. A label never changes, so it is read once, for visible blocks only. */
type Labels = ReadonlyMap<number, string | null>;

const stores = new Map<string, ReturnType<typeof createStore<Labels>>>();
const requested = new Set<string>();
const batchMs = 30;
const batchMax = 200;

let waiting: { readonly session: string; readonly blocks: Set<number> } | null = null;

export function useLabels(session: string, blocks: readonly number[]): Labels {
  const store = storeOf(session);
  const labels = useStore(store);
  const visible = blocks.join(",");
  useEffect(() => {
    for (const block of visible === "" ? [] : visible.split(",").map(Number)) requestLabel(session, block);
  }, [session, visible]);
  return labels;
}

const noLabels: Labels = new Map();
const noLabelsStore = createStore<Labels>(noLabels);

/** The labels of all given blocks, for the filter. With null nothing is read and nothing re-renders. */
export function useAllLabels(session: string, blocks: readonly number[] | null): Labels {
  const isWanted = blocks !== null;
  const labels = useStore(isWanted ? storeOf(session) : noLabelsStore);
  useEffect(() => {
    for (const block of blocks ?? []) requestLabel(session, block);
  }, [session, blocks]);
  return labels;
}

function storeOf(session: string) {
  const store = stores.get(session) ?? createStore<Labels>(new Map());
  stores.set(session, store);
  return store;
}

function requestLabel(session: string, block: number): void {
  const key = `${session} ${block}`;
  if (requested.has(key)) return;
  requested.add(key);
  if (waiting !== null && waiting.session === session && waiting.blocks.size < batchMax) {
    waiting.blocks.add(block);
    return;
  }
  const batch = { session, blocks: new Set([block]) };
  waiting = batch;
  setTimeout(() => void fill(batch), batchMs);
}

async function fill(batch: {
  readonly session: string;
  readonly blocks: ReadonlySet<number>;
}): Promise<void> {
  if (waiting === batch) waiting = null;
  const { session, blocks } = batch;
  const path = `/sessions/${encodeURIComponent(session)}/labels?blocks=${[...blocks].join(",")}`;
  try {
    const { rows } = await read<RouteAnswers["LabelsAnswer"]>(path);
    storeOf(session).set(
      (before) => new Map([...before, ...rows.map((row) => [row.block, row.label] as const)]),
    );
  } catch {
    // The list works without labels; rows that become visible again request them again.
    for (const block of blocks) requested.delete(`${session} ${block}`);
  }
}
