import { must } from "../../base/index.ts";
import type { Origin, Shown } from "../../engine/index.ts";
import type { WireUnit } from "../../protocols/index.ts";
import type { Numbered } from "../desk-port.ts";
import { Image } from "./image.ts";

/** How the wire message around a unit is written. */
export type Wrapping = { readonly role: string; readonly head: string; readonly tail: string };

/** What a unit is, wherever it stands. */
export type UnitFacts = Pick<WireUnit, "key" | "kind" | "type" | "callId"> & {
  /** Of the client's copy it stands for. */
  readonly hash: string;
  /** Set for what asks us and says nothing else: the model has said it, and the client never gets it. */
  readonly isHidden?: true;
  /** Set for a text with commands: the client's copy of it lacks their lines. */
  readonly isCommanding?: true;
};

/** How much of its block a unit shows. */
export type Showing = {
  readonly as: Shown;
  /** About how large it is, where that differs from its block. */
  readonly tokens: number | null;
  /** Blocks it refers to for lines that stand there already: it is whole only beside them. */
  readonly borrows: readonly number[];
  /** Set where it is sent whole, and the provider is asked to leave it out. */
  readonly isCleared?: true;
};

/** A first showing of all of a block in other words than the client's. */
export type Firstly = { readonly bytes: Uint8Array; readonly showing: Showing };

export const wholly: Showing = { as: "original", tokens: null, borrows: [] };

/** About what a provider says in place of a result that it leaves out. */
export const clearedTokens = 16;
export const clearedShowing: Showing = {
  as: "placeholder",
  tokens: clearedTokens,
  borrows: [],
  isCleared: true,
};

/**
 * One unit at one place of the tree: below everything that is sent before it. What the model said becomes a
 * place as soon as it is heard, and is sent when the client repeats it.
 */
export type Place = {
  readonly parent: Place | null;
  /** Where its path begins; null: it is the beginning itself. */
  readonly root: Place | null;
  readonly origin: Origin;
  /** Whether it begins a wire message. */
  readonly opens: boolean;
  facts: UnitFacts;
  wrapping: Wrapping;
  /** What the client's message it begins says besides role and content; null: it begins none. */
  extra: string | null;
  /** Whether it shows other words than the client's. */
  readonly isRewritten: boolean;
  /** Reasoning that was made behind other words: a model that binds its reasoning would refuse it here. */
  isFromElsewhere: boolean;
  /** The client's words, where it shows others and they are known. */
  original: Uint8Array | null;
  /** What was shown of it first, where that was all of it in fewer lines. */
  readonly first: Firstly | null;
  /** Whether something of ours lies on the way here, not counting what stands in front of all messages. */
  readonly hasOwn: boolean;
  /** Whether a message that clears itself lies on the way here: such a path needs a header of its own. */
  readonly hasClearing: boolean;
  /** Whether something lies on the way here that the provider is asked to leave out. */
  readonly hasCleared: boolean;
  readonly children: Place[];
  /** Other forms in which clients have sent it. */
  readonly forms: string[];
  /** The model it was first sent to, or that said it. */
  model: string | null;
  /** Null until it is sent. */
  sent: SentPlace | null;
  /** The bytes as the model said them, until they are sent. */
  heard: Uint8Array | null;
  /** A request ended here. */
  isLeaf: boolean;
  /** The block it is; null for what is ours, and where nobody has numbered it. */
  numbered: Numbered | null;
  readonly showing: Showing;
  /** Whether it is a header of ours, or holds one beside the client's words. */
  readonly isHeader: boolean;
  /** Whether the model was told its number: a header came with it or after it. */
  isAnnounced: boolean;
  /** What stood behind it in the request that ended here, for that request alone. */
  dropped: string | null;
  /** How often its key stands on the way here, with itself; null: nobody has counted. */
  counted: { readonly key: string; readonly count: number } | null;
};
export type SentPlace = {
  readonly id: string;
  /** Holds the whole path up to here, this unit from `start` to `end`. */
  readonly image: Image;
  readonly start: number;
  readonly end: number;
};

const rootFacts: UnitFacts = { key: "", kind: "system", type: "", callId: null, hash: "" };

/** Where the messages of a head begin. */
export function rootPlace(id: string): Place {
  const wrapping = { role: "", head: "", tail: "" };
  const sent = { id, image: new Image(), start: 0, end: 0 };
  const none = {
    parent: null,
    root: null,
    origin: "client",
    opens: false,
    extra: null,
    model: null,
    heard: null,
    isRewritten: false,
    isFromElsewhere: false,
    original: null,
    first: null,
    hasOwn: false,
    hasClearing: false,
    hasCleared: false,
    numbered: null,
    showing: wholly,
    isHeader: false,
    isAnnounced: true,
    dropped: null,
    counted: null,
  } as const;
  return {
    ...none,
    facts: rootFacts,
    wrapping,
    children: [],
    forms: [],
    sent,
    isLeaf: false,
  };
}

/** Whether a client knows nothing of it: what we have said, and what the model has said to us. */
export function isOwn({ origin, facts }: Pick<Place, "origin" | "facts">): boolean {
  return origin === "aperture" || facts.isHidden === true;
}

/** Whether it is a block: everything but the lines we have written around blocks. */
export function isBlock({ origin, facts }: Pick<Place, "origin" | "facts">): boolean {
  return origin !== "aperture" || facts.kind === "tool-result";
}

export function isReasoning({ facts }: Place): boolean {
  return facts.kind === "reasoning";
}

export function bytesOf(place: Place): Uint8Array {
  const { sent, heard } = place;
  if (sent !== null) return sent.image.slice(sent.start, sent.end);
  return must(heard, "a place was sent or heard");
}

export function sentOf(place: Place): SentPlace {
  return must(place.sent, "the place was sent");
}

/** From below the root to the place itself. */
export function pathTo(place: Place): readonly Place[] {
  const path: Place[] = [];
  for (let at = place; at.parent !== null; at = at.parent) path.push(at);
  return path.reverse();
}

export function rootOf(place: Place): Place {
  return place.root ?? place;
}

/** How often a key stands on the way to a place. The nearest that has it keeps what was counted. */
export function countOn(place: Place, key: string): number {
  let [count, nearest]: [number, Place | null] = [0, null];
  for (let at: Place | null = place; at !== null; at = at.parent) {
    if (at.facts.key !== key) continue;
    nearest ??= at;
    const known = at.counted?.key === key ? at.counted.count : null;
    count += known ?? 1;
    if (known !== null) break;
  }
  if (nearest !== null) nearest.counted = { key, count };
  return count;
}

/** An image that went on from another holds the same bytes at the same places. */
export function moveTo(image: Image, leaf: Place): void {
  for (let at: Place | null = leaf; at !== null; at = at.parent) {
    if (at.sent !== null) at.sent = { ...at.sent, image };
  }
}

/** Forgets what only this image holds. */
export function cutBranch(root: Place, image: Image): void {
  const left = [root];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const kept = place.children.filter(({ sent }) => sent?.image !== image);
    place.children.splice(0, place.children.length, ...kept);
    left.push(...kept);
  }
}

/** Keeps only the newest of what was heard below a place and never sent. */
export function forgetHeard({ children }: Place, count: number): void {
  const heard = children.filter(({ sent }) => sent === null);
  for (const old of heard.slice(0, Math.max(0, heard.length - count)))
    children.splice(children.indexOf(old), 1);
}
