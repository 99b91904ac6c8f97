import { startTransition, useEffect, useRef, useState } from "react";
import { afterPaint } from "../base/after-paint.ts";
import { type CallError, read } from "./client.ts";
import type { BlockRow, StateRow } from "./contract.ts";
import { prefetch, useResource } from "./resource.ts";

/** More rows than a screen shows. */
const firstRows = 60;
/** Few enough that parsing one response does not block the page. */
const pageRows = 1_000;

export type StateQuery = {
  /** The API path of the session. */
  readonly session: string;
  /** A seq; null for now. */
  readonly at: number | null;
  /** Null for the main stream. */
  readonly stream: number | null;
};

/**
 * The state of a stream. A large one is shown with its first rows at once and completed in the background.
 * A newer state replaces it only when it is complete, so that no row disappears meanwhile.
 */
export function useContextState(query: StateQuery): { state: StateRow | null; error: CallError | null } {
  const { data: first, error } = useResource<StateRow>(pathOf(query, { rows: firstRows }));
  const complete = useComplete(query, first);
  // While another seq is read the old state stays, so that scrubbing does not flicker.
  const [last, setLast] = useState<StateRow | null>(null);
  const state = first === null ? null : pickState(first, complete, query);
  useEffect(() => {
    if (state !== null) setLast(state);
  }, [state]);
  return { state: state ?? (error === null ? last : null), error };
}

/** Starts the read before the screen is rendered. */
export function prefetchState(query: StateQuery): void {
  prefetch(pathOf(query, { rows: firstRows }));
}

export function isComplete({ blocks, total }: Pick<StateRow, "blocks" | "total">): boolean {
  return blocks.length === total;
}

function pickState(first: StateRow, complete: StateRow | null, { at }: StateQuery): StateRow {
  if (isComplete(first) || complete === null || complete.stream !== first.stream) return first;
  return at === null || complete.seq === first.seq ? complete : first;
}

/** Reads the rows after the first ones. One read at a time; the next one starts from the newest state. */
function useComplete(query: StateQuery, first: StateRow | null): StateRow | null {
  const [complete, setComplete] = useState<StateRow | null>(null);
  const next = useRef<StateRow | null>(null);
  const isReading = useRef(false);
  const { session, at, stream } = query;
  useEffect(() => {
    const isLive = at === null;
    next.current = first === null || isComplete(first) ? null : first;
    const readRest = async (): Promise<void> => {
      await afterPaint();
      for (let head = next.current; head !== null; head = next.current) {
        next.current = null;
        // A past state is completed only while the user still views it.
        const isCurrent = (): boolean => isLive || next.current === null;
        const result = await readComplete({ session, at: head.seq, stream }, head, isCurrent);
        if (result !== null) startTransition(() => setComplete(result));
      }
    };
    if (next.current === null || isReading.current) return;
    isReading.current = true;
    void readRest().finally(() => {
      isReading.current = false;
    });
  }, [first, session, at, stream]);
  return complete;
}

/** Null if a read failed or the state is out of date. The next frame starts another attempt. */
async function readComplete(
  query: StateQuery,
  head: StateRow,
  isCurrent: () => boolean,
): Promise<StateRow | null> {
  const blocks: BlockRow[] = [...head.blocks];
  try {
    while (blocks.length < head.total && isCurrent()) {
      const page = await read<StateRow>(pathOf(query, { from: blocks.length, rows: pageRows }));
      if (page.blocks.length === 0) return null;
      blocks.push(...page.blocks);
    }
  } catch {
    return null;
  }
  return blocks.length === head.total ? { ...head, blocks } : null;
}

function pathOf(
  { session, at, stream }: StateQuery,
  span: { readonly from?: number; readonly rows: number },
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ at, stream, ...span })) {
    if (value !== null) query.set(name, `${value}`);
  }
  return `${session}/state?${query}`;
}
