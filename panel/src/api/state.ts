import { startTransition, useEffect, useRef, useState } from "react";
import { painted } from "../base/painted.ts";
import { type CallError, read } from "./client.ts";
import type { BlockRow, StateRow } from "./contract.ts";
import { prefetch, useResource } from "./resource.ts";

/** More rows than a screen has; and as many as are read without anybody noticing. */
const firstRows = 60;
const pieceRows = 1_000;

export type StateWish = {
  /** The path of the session. */
  readonly session: string;
  /** Null: now. */
  readonly at: number | null;
  /** Null: the main one. */
  readonly stream: number | null;
};

/**
 * The state of a stream. One of very many blocks is there with its first rows at once, and whole once the
 * rest has come; a newer one takes its place when it is whole itself, so that nothing vanishes.
 */
export function useContextState(wish: StateWish): { state: StateRow | null; error: CallError | null } {
  const { data: first, error } = useResource<StateRow>(pathOf(wish, { rows: firstRows }));
  const whole = useWhole(wish, first);
  // Another seq is being read: what was there stays until it comes, so that scrubbing does not flicker.
  const [last, setLast] = useState<StateRow | null>(null);
  const state = first === null ? null : shownOf(first, whole, wish);
  useEffect(() => {
    if (state !== null) setLast(state);
  }, [state]);
  return { state: state ?? (error === null ? last : null), error };
}

/** Begins to read it before there is anything to show it in. */
export function prefetchState(wish: StateWish): void {
  prefetch(pathOf(wish, { rows: firstRows }));
}

export function isWhole({ blocks, total }: Pick<StateRow, "blocks" | "total">): boolean {
  return blocks.length === total;
}

function shownOf(first: StateRow, whole: StateRow | null, { at }: StateWish): StateRow {
  if (isWhole(first) || whole === null || whole.stream !== first.stream) return first;
  return at === null || whole.seq === first.seq ? whole : first;
}

/** What is behind the first rows, if there is more. One reading at a time, then that of what is newest. */
function useWhole(wish: StateWish, first: StateRow | null): StateRow | null {
  const [whole, setWhole] = useState<StateRow | null>(null);
  const next = useRef<StateRow | null>(null);
  const reading = useRef(false);
  const { session, at, stream } = wish;
  useEffect(() => {
    const isLive = at === null;
    next.current = first === null || isWhole(first) ? null : first;
    const readOn = async (): Promise<void> => {
      await painted();
      for (let head = next.current; head !== null; head = next.current) {
        next.current = null;
        // Of the past only what is looked at is worth reading to its end.
        const isWanted = (): boolean => isLive || next.current === null;
        const made = await wholeOf({ session, at: head.seq, stream }, head, isWanted);
        if (made !== null) startTransition(() => setWhole(made));
      }
    };
    if (next.current === null || reading.current) return;
    reading.current = true;
    void readOn().finally(() => {
      reading.current = false;
    });
  }, [first, session, at, stream]);
  return whole;
}

/** Null: it could not be had, or is not wanted any more. With the next frame it is tried again. */
async function wholeOf(wish: StateWish, head: StateRow, isWanted: () => boolean): Promise<StateRow | null> {
  const blocks: BlockRow[] = [...head.blocks];
  try {
    while (blocks.length < head.total && isWanted()) {
      const piece = await read<StateRow>(pathOf(wish, { from: blocks.length, rows: pieceRows }));
      if (piece.blocks.length === 0) return null;
      blocks.push(...piece.blocks);
    }
  } catch {
    return null;
  }
  return blocks.length === head.total ? { ...head, blocks } : null;
}

function pathOf(
  { session, at, stream }: StateWish,
  span: { readonly from?: number; readonly rows: number },
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ at, stream, ...span })) {
    if (value !== null) query.set(name, `${value}`);
  }
  return `${session}/state?${query}`;
}
