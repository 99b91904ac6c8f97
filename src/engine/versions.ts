import { assert, type Seq } from "../base/index.ts";

/**
 * Every value something has had, as a chain from the newest. Appending shares the earlier versions. The
 * version as of a seq is found by bisection in the history, whose seqs lie side by side: following ten links
 * through memory would wait for each of them.
 */
export type Versions<T> = {
  readonly seq: Seq;
  readonly value: T;
  readonly length: number;
  readonly previous: Versions<T> | null;
  /** Null while there are few versions: then following the links is as fast. */
  readonly history: VersionHistory<T> | null;
};

/**
 * Seqs and versions alternating, oldest first; all versions of one chain share it. It grows in place: a
 * version reads only the entries before its own, which never change, and its first successor is appended
 * behind it. A second successor of the same version (a plan, a trial undo) starts a history of its own.
 */
type VersionHistory<T> = (Seq | Versions<T>)[];

/** A chain gets a history from this many versions on. */
const historyMin = 8;

/** A second value in one frame replaces the first: a frame is atomic, so no reader ever saw its middle. */
export function withVersion<T>(newest: Versions<T> | null, seq: Seq, value: T): Versions<T> {
  assert(newest === null || newest.seq <= seq, "versions are appended in order");
  const previous = newest?.seq === seq ? newest.previous : newest;
  const length = (previous?.length ?? 0) + 1;
  const history = length < historyMin ? null : historyOf(newest);
  const version: Versions<T> = { seq, value, length, previous, history };
  history?.splice((length - 1) * 2, 2, seq, version);
  return version;
}

export function versionAt<T>(newest: Versions<T> | null | undefined, seq: Seq): Versions<T> | null {
  let version = newest ?? null;
  if (version === null || version.seq <= seq) return version;
  if (version.history !== null) return versionIn(version.history, version.length - 1, seq);
  while (version !== null && version.seq > seq) version = version.previous;
  return version;
}

/** Oldest first, as snapshots store them. */
export function versionList<T>(newest: Versions<T> | null): readonly (readonly [Seq, T])[] {
  return chainOf(newest).map(({ seq, value }) => [seq, value]);
}

export function versionsFrom<T>(list: readonly (readonly [Seq, T])[]): Versions<T> | null {
  return list.reduce<Versions<T> | null>((newest, [seq, value]) => withVersion(newest, seq, value), null);
}

/** A history that ends with this version: the shared one if it has no successor there, else a copy. */
function historyOf<T>(version: Versions<T> | null): VersionHistory<T> {
  const own = version?.history ?? null;
  if (own !== null && own.at(-1) === version) return own;
  return chainOf(version).flatMap((older) => [older.seq, older]);
}

function chainOf<T>(newest: Versions<T> | null): readonly Versions<T>[] {
  const chain: Versions<T>[] = [];
  for (let version = newest; version !== null; version = version.previous) chain.push(version);
  return chain.reverse();
}

/** The last of the first `count` versions that is not after `seq`. */
function versionIn<T>(history: VersionHistory<T>, count: number, seq: Seq): Versions<T> | null {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((history[middle * 2] as Seq) <= seq) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? null : (history[low * 2 - 1] as Versions<T>);
}
