import { cutText } from "../../base/index.ts";
import { costOf } from "../cost.ts";
import { similarLinesMarker } from "./gap-markers.ts";
import type { Segment } from "./segments.ts";

/** Error lines that differ only in names and numbers, by their index, and the text of the first. */
type ErrorGroup = { readonly indexes: readonly number[]; readonly first: string };

/** The error lines of a text, sorted into those that are shown and those that repeat a shown one. */
export type ErrorSelection = {
  /** Segments that are kept: the first of each group. */
  readonly shown: readonly number[];
  /** Segments that are left out, because a shown line reads the same. */
  readonly hidden: readonly number[];
  /** One marker per group, with the names that its hidden lines mention. */
  readonly markers: readonly string[];
};

/** The first line of a group shows the message, the second shows which part of it varies. */
const shownPerGroup = 2;

/**
 * Condenses a text that repeats the same errors: keeps two lines per group, and lists the names of the other
 * lines as far as `tokensMax` allows, with a count of the names that do not fit.
 */
export function condenseErrors(
  segments: readonly Segment[],
  errors: readonly number[],
  tokensMax: number,
): ErrorSelection {
  const groups = groupErrors(segments, errors);
  const shown = groups.flatMap(({ indexes }) => indexes.slice(0, shownPerGroup)).sort((a, b) => a - b);
  const cost = shown.reduce((sum, at) => sum + (segments[at]?.cost ?? 0), 0);
  const large = groups.filter(({ indexes }) => indexes.length > shownPerGroup);
  const lines = large.reduce((sum, { indexes }) => sum + indexes.length, 0);
  const room = Math.max(0, tokensMax - cost);
  const markers = large.map((group) => groupMarker(segments, group, (room * group.indexes.length) / lines));
  return { shown, hidden: large.flatMap(({ indexes }) => indexes.slice(shownPerGroup)), markers };
}

function groupErrors(segments: readonly Segment[], errors: readonly number[]): readonly ErrorGroup[] {
  const byShape = new Map<string, { indexes: number[]; first: string }>();
  for (const at of errors) {
    const text = segments[at]?.text ?? "";
    const shape = text.replace(wordPattern, (word) => (isVarying(word) ? "•" : word));
    const group = byShape.get(shape);
    if (group === undefined) byShape.set(shape, { indexes: [at], first: text });
    else group.indexes.push(at);
  }
  return [...byShape.values()];
}

const wordPattern = /[\w./~@$#:-]+/g;
const varyingWord = /[\d_/@#~$]|[a-z][A-Z]|\w[.-]\w/;

/** Whether a word is a name, a path or a number: these vary between lines with the same message. */
function isVarying(word: string): boolean {
  return varyingWord.test(word);
}

const startMax = 40;

function groupMarker(
  segments: readonly Segment[],
  { indexes, first }: ErrorGroup,
  tokensMax: number,
): string {
  const shown = new Set(indexes.slice(0, shownPerGroup).flatMap((at) => namesIn(segments[at]?.text ?? "")));
  const names = new Set(indexes.slice(shownPerGroup).flatMap((at) => namesIn(segments[at]?.text ?? "")));
  for (const name of shown) names.delete(name);
  const listed: string[] = [];
  let room = tokensMax - markerWordsCost;
  for (const name of names) {
    room -= costOf(name) + 1;
    if (room < 0) break;
    listed.push(name);
  }
  return similarLinesMarker({
    count: indexes.length - shownPerGroup,
    start: cutText(first.trim(), startMax),
    names: listed,
    unlisted: names.size - listed.length,
  });
}

/** Tokens of a marker without its names. */
const markerWordsCost = 20;

/** Names contain letters: plain numbers, such as durations, are not searched for later. */
function namesIn(text: string): readonly string[] {
  return (text.match(wordPattern) ?? [])
    .filter((word) => isVarying(word) && /[A-Za-z]/.test(word))
    .map((word) => word.replace(/[.:-]+$/, ""));
}
