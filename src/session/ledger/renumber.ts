import { turnOf } from "../../base/index.ts";
import { estimateTokens } from "../../tokens/index.ts";
import type { KnownBlock, Numbered } from "../desk-port.ts";
import { ttlOf } from "../ttl.ts";
import type { StreamNumbers } from "./numbers.ts";
import { bytesOf, isBlock, type Place, pathTo } from "./place.ts";

/** A header, as far as it can be told from its text. */
const headerText = /^\{"type":"text","text":"(?:\[\w+ turn \d+, |--- Message ID: \d+ \|)/;

/**
 * Gives the places of a path the numbers that the log has for them, and finds out which of them the model was
 * told: those before a header, and those of the message it stands in.
 */
export function renumber(leaf: Place, numbers: StreamNumbers): void {
  const counts = new Map<string, number>();
  const path = pathTo(leaf);
  let isTold = false;
  let told = -1;
  for (const [at, place] of path.entries()) {
    if (!isBlock(place)) {
      if (headerIn(place) !== null) [isTold, told] = [true, at];
      continue;
    }
    const { key, kind } = place.facts;
    const nth = counts.get(key) ?? 0;
    counts.set(key, nth + 1);
    if (place.wrapping.role === "assistant") isTold = false;
    if (isTold) told = at;
    place.numbered ??= numberedAs(numbers, { key, kind, nth, length: bytesOf(place).length });
  }
  for (const [at, place] of path.entries()) place.isAnnounced = at <= told;
  for (const heard of leaf.children) renumberHeard(heard, { numbers, counts });
}

/** The text of a header of ours, wherever it was read from; null: it is none. */
export function headerIn(place: Place): string | null {
  if (isBlock(place)) return null;
  const text = Buffer.from(bytesOf(place)).toString("utf8");
  return headerText.test(text) ? text : null;
}

type Counted = { readonly numbers: StreamNumbers; readonly counts: ReadonlyMap<string, number> };

/** An answer that nobody has repeated yet. */
function renumberHeard(place: Place, counted: Counted): void {
  if (place.sent !== null) return;
  const { key, kind } = place.facts;
  const nth = counted.counts.get(key) ?? 0;
  place.numbered ??= numberedAs(counted.numbers, { key, kind, nth, length: bytesOf(place).length });
  for (const next of place.children) renumberHeard(next, counted);
}

type Found = { readonly key: string; readonly kind: Numbered["kind"]; readonly nth: number } & {
  readonly length: number;
};

function numberedAs(numbers: StreamNumbers, { key, kind, nth, length }: Found): Numbered | null {
  const known = numbers.find(key, nth);
  return known === null ? null : numberedBlock(known, kind, length);
}

/** A block that the log has numbered, as far as its size can be told from how many bytes it was sent in. */
export function numberedBlock(known: KnownBlock, kind: Numbered["kind"], length: number): Numbered {
  const { count: tokens } = estimateTokens(length, null);
  return { ...known, kind, tokens, ttl: ttlOf(kind, turnOf(known.turn)) };
}
