import { type ContentHash, hashContent } from "../../base/index.ts";
import type { Origin } from "../../engine/index.ts";
import { isClearing, textBlock } from "../../protocols/index.ts";
import type { Numbered, SentUnit } from "../desk-port.ts";
import { placeId, placeKey } from "../place-id.ts";
import { ownKey } from "./head.ts";
import { Image } from "./image.ts";
import {
  bytesOf,
  type Firstly,
  type Place,
  pathTo,
  rootOf,
  type Showing,
  sentOf,
  type UnitFacts,
  type Wrapping,
  wholly,
} from "./place.ts";

/** A unit that is about to be sent for the first time at its place. */
export type Item = {
  readonly facts: UnitFacts;
  readonly origin: Origin;
  readonly wrapping: Wrapping;
  readonly opens: boolean;
  readonly extra: string | null;
  readonly bytes: Uint8Array;
  readonly hash: ContentHash;
  /** Which unit of the client's messages it is, counted from the first that is looked at; null: none. */
  readonly at: number | null;
  /** The place it was heard at; null where it is new. */
  readonly place: Place | null;
  /** Whether it shows other words than the client's. */
  readonly isRewritten: boolean;
  /** Reasoning that was made behind other words. */
  readonly isFromElsewhere: boolean;
  /** The client's words that it stands for, where it shows others and they are known. */
  readonly original: Uint8Array | null;
  readonly first: Firstly | null;
  /** The place it is a rewriting of. */
  readonly from: Place | null;
  readonly numbered: Numbered | null;
  readonly showing: Showing;
  /** Whether it is a header of ours, or holds one. */
  readonly isHeader: boolean;
};

/** What most items are: new at their place, in nobody's words but their own. */
export const asIs = {
  place: null,
  isRewritten: false,
  isFromElsewhere: false,
  original: null,
  first: null,
  from: null,
  numbered: null,
  showing: wholly,
  isHeader: false,
} as const;

/** Something of ours inside a message, or a message of its own. */
export function ownItem(text: string, wrapping: Wrapping, opens: boolean): Item {
  const bytes = textBlock(text);
  const hash = hashContent(bytes);
  const facts: UnitFacts = { key: ownKey(hash), kind: "ambient", type: "text", callId: null, hash };
  const own = { origin: "aperture", extra: null, at: null, ...asIs } as const;
  return { facts, wrapping, opens, bytes, hash, ...own };
}

/** The item in other words than the client's, which are kept. */
export function inOtherWords(item: Item, { bytes, showing }: Pick<Item, "bytes" | "showing">): Item {
  const original = item.original ?? Uint8Array.from(item.bytes);
  return { ...item, bytes, showing, hash: hashContent(bytes), isRewritten: true, original };
}

/** Where the bytes of a path end, and how they are closed. */
export type PathEnd = { readonly end: number; readonly tail: string };

/** The bytes between the end of a path and a unit that follows it. */
function lead({ end, tail }: PathEnd, { opens, wrapping }: Item): string {
  if (!opens) return ",";
  return end === 0 ? wrapping.head : `${tail},${wrapping.head}`;
}

/** A unit for the log, with the item it came from still to be named as the client counts. */
export type Written = { readonly places: readonly Place[]; readonly units: readonly SentUnit[] };

/** Sends items at their places: from here on they are canon. */
export function writeItems(from: Place, items: readonly Item[], model: string | null): Written {
  const places: Place[] = [];
  const units: SentUnit[] = [];
  let parent = from;
  const { image: before, end } = sentOf(from);
  const image = before.length === end ? before : Image.fork(before, end);
  image.reserve(items.reduce((sum, { bytes }) => sum + bytes.length, 0));
  for (const item of items) {
    const at = { end: sentOf(parent).end, tail: parent.wrapping.tail };
    image.append(Buffer.from(lead(at, item)));
    const start = image.length;
    image.append(item.bytes);
    const { id: parentId } = sentOf(parent);
    const isCleared = item.showing.isCleared === true;
    const id = placeId(parentId === "" ? null : parentId, placeKey(item.facts.key, isCleared), item.hash);
    const place = placeFor(parent, item);
    place.sent = { id, image, start, end: image.length };
    place.heard = null;
    place.model = model;
    units.push({
      id,
      parent: parentId === "" ? null : parentId,
      origin: item.origin,
      key: item.facts.key,
      unit: item.at,
      numbered: item.numbered,
      as: item.showing.as,
      bytes: image.slice(start, image.length),
      ...(isCleared ? { cleared: true } : {}),
    });
    places.push(place);
    parent = place;
  }
  return { places, units };
}

/** What was heard is sent at the place where it was heard; anything else gets a place of its own. */
function placeFor(parent: Place, item: Item): Place {
  const { facts, origin, opens, extra, isRewritten, original } = item;
  const { first, numbered, showing, isHeader } = item;
  // A message is closed the way it was opened, whoever wrote its last unit.
  const wrapping = opens ? item.wrapping : parent.wrapping;
  if (item.place !== null && item.place.parent === parent) {
    // A client that has written it its own way may still come back to the model's.
    item.place.forms.push(item.place.facts.hash);
    return Object.assign(item.place, { facts, wrapping, extra, numbered, counted: null });
  }
  const isMoved = item.place !== null && facts.kind === "reasoning";
  const isFromElsewhere = item.isFromElsewhere || isMoved;
  const place = newPlace(parent, {
    facts,
    origin,
    wrapping,
    opens,
    extra,
    isRewritten,
    isFromElsewhere,
    original,
    first,
    numbered,
    showing,
    isHeader,
  });
  place.forms.push(...(item.from?.forms ?? []));
  parent.children.push(place);
  return place;
}

type PlaceFacts = Pick<Place, "facts" | "origin" | "wrapping" | "opens" | "extra" | "original" | "first"> &
  Pick<Place, "isRewritten" | "isFromElsewhere" | "numbered" | "showing" | "isHeader">;

/** Field by field: places are made by the thousand, and a spread would cost most of it. */
export function newPlace(parent: Place, placed: PlaceFacts): Place {
  const { facts, origin, wrapping, opens, extra, isRewritten, isFromElsewhere, original } = placed;
  const { first, numbered, showing, isHeader } = placed;
  return {
    parent,
    root: rootOf(parent),
    origin,
    opens,
    facts,
    wrapping,
    extra,
    isRewritten,
    isFromElsewhere,
    original,
    first,
    hasOwn: parent.hasOwn || origin === "aperture",
    hasClearing: parent.hasClearing || (opens && isClearing(wrapping.head)),
    hasCleared: parent.hasCleared || showing.isCleared === true,
    children: [],
    forms: [],
    model: parent.model,
    sent: null,
    heard: null,
    isLeaf: false,
    numbered,
    showing,
    isHeader,
    isAnnounced: false,
    dropped: null,
    counted: null,
  };
}

/** Everything on the way to a place, for a log that may not know it. */
export function pathUnits(leaf: Place, unitOf: ReadonlyMap<Place, number>): readonly SentUnit[] {
  return pathTo(leaf).map((place) => {
    const parent = place.parent === null ? "" : sentOf(place.parent).id;
    const { origin, facts, numbered, showing } = place;
    const unit = origin === "aperture" ? null : (unitOf.get(place) ?? null);
    const named = { id: sentOf(place).id, parent: parent === "" ? null : parent };
    const shown = { as: showing.as, ...(showing.isCleared === true ? { cleared: true as const } : {}) };
    return { ...named, origin, key: facts.key, unit, numbered, ...shown, bytes: bytesOf(place) };
  });
}

/** The same bytes without a trace in the ledger, with where each item ends. */
export function spellItems(from: PathEnd, items: readonly Item[]): Spelled {
  const pieces: Uint8Array[] = [];
  const ends: number[] = [];
  let at = from;
  for (const item of items) {
    const leading = Buffer.from(lead(at, item));
    pieces.push(leading, item.bytes);
    const tail = item.opens ? item.wrapping.tail : at.tail;
    at = { end: at.end + leading.length + item.bytes.length, tail };
    ends.push(at.end);
  }
  return { bytes: Buffer.concat(pieces), ends, tail: at.tail };
}
export type Spelled = {
  readonly bytes: Buffer;
  readonly ends: readonly number[];
  /** How the last message is closed. */
  readonly tail: string;
};
