import { assert, type Seq } from "../base/index.ts";

/**
 * Every value something has had, newest first. Appending shares all that was there; reading as of a seq takes
 * the jumps of a skew-binary list, so ten thousand versions are crossed in a dozen steps.
 */
export type Versions<T> = {
  readonly seq: Seq;
  readonly value: T;
  readonly length: number;
  readonly previous: Versions<T> | null;
  readonly jump: Versions<T> | null;
};

/** A second value in one frame replaces the first: a frame is atomic, nobody ever saw its middle. */
export function withVersion<T>(newest: Versions<T> | null, seq: Seq, value: T): Versions<T> {
  assert(newest === null || newest.seq <= seq, "versions are appended in order");
  const previous = newest?.seq === seq ? newest.previous : newest;
  return { seq, value, length: lengthOf(previous) + 1, previous, jump: jumpFrom(previous) };
}

export function versionAt<T>(newest: Versions<T> | null | undefined, seq: Seq): Versions<T> | null {
  let version = newest ?? null;
  while (version !== null && version.seq > seq) {
    version = version.jump !== null && version.jump.seq > seq ? version.jump : version.previous;
  }
  return version;
}

/** Oldest first, as snapshots store them. */
export function versionList<T>(newest: Versions<T> | null): readonly (readonly [Seq, T])[] {
  const list: (readonly [Seq, T])[] = [];
  for (let version = newest; version !== null; version = version.previous)
    list.push([version.seq, version.value]);
  return list.reverse();
}

export function versionsFrom<T>(list: readonly (readonly [Seq, T])[]): Versions<T> | null {
  return list.reduce<Versions<T> | null>((newest, [seq, value]) => withVersion(newest, seq, value), null);
}

function jumpFrom<T>(previous: Versions<T> | null): Versions<T> | null {
  const jump = previous?.jump ?? null;
  const beyond = jump?.jump ?? null;
  const even = lengthOf(previous) - lengthOf(jump) === lengthOf(jump) - lengthOf(beyond);
  return even ? beyond : previous;
}

function lengthOf<T>(version: Versions<T> | null): number {
  return version?.length ?? 0;
}
