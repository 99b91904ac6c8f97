import { type ContentHash, must } from "../../base/index.ts";
import { modelTraits, unitBytes, unitText, type WireRequest, type WireUnit } from "../../protocols/index.ts";
import type { RememberedTurn } from "../desk-port.ts";
import { placeId, placeKey } from "../place-id.ts";
import { borrowedIn } from "./arrivals.ts";
import { clientUnits } from "./client-units.ts";
import { asIs, type Item, writeItems } from "./draft.ts";
import type { ClientUnit } from "./follow.ts";
import { type Head, type HeadUnit, headFrom } from "./head.ts";
import { heardFacts, nothingOffered, type Offered } from "./own-texts.ts";
import { clearedShowing, type Place, type Showing, sentOf, wholly } from "./place.ts";
import { numberedBlock } from "./renumber.ts";

/** A turn that an earlier process sent. */
export type RecalledTurn = Pick<RememberedTurn, "path" | "turn"> & {
  readonly request: WireRequest;
  /** What was shown in other words here, where it still is remembered in its own. */
  readonly originalOf?: OriginalOf;
  /** What marks command lines, where its head knows of any. */
  readonly offered?: Offered;
};
export type OriginalOf = (content: string) => Uint8Array | null;

type Entry = RememberedTurn["path"][number];
type Placed<U> = { readonly entry: Entry; readonly wire: U };

/** A path with the units of the body it belongs to. */
export type RecalledPath = {
  readonly head: readonly Placed<HeadUnit>[];
  readonly said: readonly Placed<ClientUnit>[];
  /** What stood behind the path, in that request alone. */
  readonly dropped: string | null;
};

/**
 * Finds the units of a path in the body it was sent with. The body may hold more: tools that nobody has named
 * yet, and what was sent once and dropped. Null where something of the path is missing.
 */
export function pathIn({ request, path }: RecalledTurn): RecalledPath | null {
  const left = [...path].reverse();
  const take = (hash: string): Entry | null => (left.at(-1)?.bytes === hash ? (left.pop() ?? null) : null);
  const front = [request.tools, request.system].flatMap(({ units, range }) =>
    units.map((unit) => ({ unit, bytes: unitBytes(request.bytes, range.start, unit), numbered: null })),
  );
  const placed = <U>(wire: U, hash: string): readonly Placed<U>[] => {
    const entry = take(hash);
    return entry === null ? [] : [{ entry, wire }];
  };
  const head = front.flatMap((wire) => placed(wire, wire.unit.hash));
  const units = clientUnits(request, 0);
  const said = units.flatMap((wire) => placed(wire, wire.unit.hash));
  const last = units.at(-1);
  const isDropped = last !== undefined && said.at(-1)?.wire !== last;
  const dropped = isDropped ? unitText(request.bytes, last.group.range.start, last.unit) : null;
  return left.length === 0 ? { head, said, dropped } : null;
}

/** The id of the last unit in front of the messages. */
export function headIdOf({ head }: RecalledPath): string {
  let id: string | null = null;
  for (const { entry } of head) id = entryId(id, entry);
  return id ?? "";
}

function entryId(parent: string | null, { key, bytes, cleared }: Entry): string {
  return placeId(parent, placeKey(key, cleared === true), bytes as ContentHash);
}

export function recallHead({ head }: RecalledPath, request: WireRequest): Head {
  const own = head.filter(({ entry }) => entry.origin === "aperture").map(({ wire }) => wire);
  const tools = own.filter(({ unit }) => unit.section === "tools").map(({ bytes }) => bytes);
  const instructions = own.find(({ unit }) => unit.section === "system")?.bytes ?? null;
  const client = head.filter(({ entry }) => entry.origin !== "aperture").map(({ wire }) => wire);
  const deferred = request.tools.units
    .filter(({ isDeferred }) => isDeferred)
    .map((unit) => {
      const bytes = unitBytes(request.bytes, request.tools.range.start, unit);
      return { unit, bytes, numbered: null };
    });
  return { ...headFrom([...client, ...deferred], { instructions, tools }), isTold: true };
}

/** Writes a path below its head, or finds it there; the last place is where its answer hangs. */
export function recallPath({ said }: RecalledPath, { root }: Head, recalled: RecalledTurn): Place {
  const { request } = recalled;
  const { isBound } = modelTraits(request.model);
  let place = root;
  let known = 0;
  for (const { entry } of said) {
    const id = entryId(sentOf(place).id || null, entry);
    const child = place.children.find(({ sent }) => sent?.id === id);
    if (child === undefined) break;
    if (isBound) child.isFromElsewhere = false;
    place = child;
    known += 1;
  }
  const items = said
    .slice(known)
    .map((placed, at) => recalledItem(placed, isFirstSaid(said, known + at), recalled));
  const { places } = writeItems(place, atHeard(place, items), request.model);
  // A client may also repeat it the way it was sent.
  for (const [at, written] of places.entries()) {
    const { entry, wire } = must(said[known + at], "every item is written");
    if (isReworded(entry, wire.unit)) written.forms.push(wire.unit.hash);
  }
  return places.at(-1) ?? place;
}

/** An answer that was heard in an earlier turn is sent where it was heard. */
function atHeard(from: Place, items: readonly Item[]): readonly Item[] {
  let parent: Place | null = from;
  return items.map((item) => {
    const heard: Place | null =
      parent?.children.find(({ sent, facts }) => sent === null && facts.key === item.facts.key) ?? null;
    parent = heard;
    return heard === null ? item : { ...item, place: heard };
  });
}

/** Whether it is the first of its message that is not ours. */
function isFirstSaid(said: RecalledPath["said"], at: number): boolean {
  const { wire } = must(said[at], "there is one");
  return !said
    .slice(0, at)
    .some(({ wire: { group }, entry }) => group === wire.group && entry.origin !== "aperture");
}

function recalledItem(
  { entry, wire }: Placed<ClientUnit>,
  isFirst: boolean,
  { request: { bytes, model }, originalOf, offered = nothingOffered }: RecalledTurn,
): Item {
  const { unit, group, begins } = wire;
  const { origin, key, of, block, cleared } = entry;
  const { kind, type, callId, hash } = unit;
  const isOurs = origin === "aperture";
  const sent = unitBytes(bytes, group.range.start, unit);
  const isOther = isReworded(entry, unit);
  const facts = { key, kind, type, callId, hash: isOther ? (of?.content ?? hash) : hash };
  return {
    ...asIs,
    facts: group.role === "assistant" ? heardFacts(facts, sent, offered) : facts,
    origin,
    wrapping: { role: group.role, head: group.head, tail: group.tail },
    opens: begins,
    extra: isFirst && !isOurs ? group.extra : null,
    bytes: sent,
    hash,
    numbered: block === undefined ? null : numberedBlock(block, kind, sent.length),
    at: null,
    isRewritten: !isOurs && (isOther || unit.key !== key || cleared === true),
    original: isOther
      ? (of?.bytes ?? originalOf?.(of?.content ?? "") ?? null)
      : cleared === true
        ? sent
        : null,
    showing: cleared === true ? clearedShowing : !isOther || of === undefined ? wholly : shownAs(of.as, sent),
    // A model that does not bind its reasoning lets pass what one that does may refuse.
    isFromElsewhere: kind === "reasoning" && !modelTraits(model).isBound,
  };
}

function shownAs(as: Showing["as"], sent: Uint8Array): Showing {
  return { as, tokens: null, borrows: borrowedIn(sent) };
}

/** A client may write the same thing another way; only a result is said in other words and still whole. */
function isReworded({ of }: Entry, { type }: WireUnit): boolean {
  return of !== undefined && (of.as !== "original" || type === "tool_result");
}
