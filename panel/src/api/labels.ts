import { useEffect } from "react";
import { createStore, useStore } from "../base/store.ts";
import { read } from "./client.ts";
import type { RouteAnswers } from "./contract.ts";

/** What blocks are about never changes: it is read once, and only for those that are looked at. */
type Labels = ReadonlyMap<number, string | null>;

const known = new Map<string, ReturnType<typeof createStore<Labels>>>();
const asked = new Set<string>();
const pauseMs = 30;
const batchMax = 200;

let waiting: { readonly session: string; readonly blocks: Set<number> } | null = null;

export function useLabels(session: string, blocks: readonly number[]): Labels {
  const store = storeOf(session);
  const labels = useStore(store);
  const wanted = blocks.join(",");
  useEffect(() => {
    for (const block of wanted === "" ? [] : wanted.split(",").map(Number)) want(session, block);
  }, [session, wanted]);
  return labels;
}

const noLabels: Labels = new Map();
const nobody = createStore<Labels>(noLabels);

/** Of very many, for those who look through all of them; null: nobody does, and nothing is drawn again. */
export function useAllLabels(session: string, blocks: readonly number[] | null): Labels {
  const isWanted = blocks !== null;
  const labels = useStore(isWanted ? storeOf(session) : nobody);
  useEffect(() => {
    for (const block of blocks ?? []) want(session, block);
  }, [session, blocks]);
  return labels;
}

function storeOf(session: string) {
  const store = known.get(session) ?? createStore<Labels>(new Map());
  known.set(session, store);
  return store;
}

function want(session: string, block: number): void {
  const key = `${session} ${block}`;
  if (asked.has(key)) return;
  asked.add(key);
  if (waiting !== null && waiting.session === session && waiting.blocks.size < batchMax) {
    waiting.blocks.add(block);
    return;
  }
  const batch = { session, blocks: new Set([block]) };
  waiting = batch;
  setTimeout(() => void fill(batch), pauseMs);
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
    // The list is complete without them; they are asked for again when they are looked at again.
    for (const block of blocks) asked.delete(`${session} ${block}`);
  }
}
