import { hashContent, must } from "../../base/index.ts";
import { sharedMessages, unitBytes, type WireRequest } from "../../protocols/index.ts";
import type { SentCopy } from "../exchange.ts";
import { clientUnits, isReal, unitCount, unitsFrom } from "./client-units.ts";
import { asIs, type Item } from "./draft.ts";
import {
  type ClientUnit,
  type Followed,
  type FollowRules,
  follow,
  isForeign,
  leafBelow,
  ownEnd,
} from "./follow.ts";
import { answeredEnd, hiddenEnd } from "./own-calls.ts";
import { bytesOf, isReasoning, type Place, wholly } from "./place.ts";
import { isRenamedCall } from "./tolerance.ts";

/** What the ledger knows of a request, and what is left of it. */
export type Trace = {
  readonly request: WireRequest;
  /** The places of units taken over from the request before. */
  readonly kept: readonly Place[];
  /** How many messages those are. */
  readonly keptMessages: number;
  /** The units after those, and how far they could be followed. */
  readonly units: readonly ClientUnit[];
  readonly followed: Followed;
  readonly rules: FollowRules;
};

/** A request that was followed before, to begin where it still holds. */
export type Traced = { readonly request: WireRequest; readonly places: readonly Place[] };

type Tracing = { readonly before: Traced | null; readonly rules: GivenRules };
type TracingAfter = { readonly before: Traced | null; readonly rules: Omit<FollowRules, "reasoningKeys"> };

export function traceRequest(root: Place, request: WireRequest, { before, rules: given }: Tracing): Trace {
  const rules = { ...given, isRecent: among(before?.places ?? []) };
  const trace = traceAfter(root, request, { before, rules });
  if (before === null || isAfter(trace, before)) return trace;
  // It forks off from the request before, which may have come by another path than the one it goes on with.
  const whole = traceAfter(root, request, { before: null, rules });
  return whole.followed.steps.length > trace.kept.length + trace.followed.steps.length ? whole : trace;
}

/** Whether all of the request before was found again at its places. */
function isAfter({ kept, followed }: Trace, { places }: Traced): boolean {
  const last = places.at(-1);
  return kept.length === places.length || followed.steps.some(({ place }) => place === last);
}

/** Asked only where there are several ways, so the places are not gone through before. */
function among(places: readonly Place[]): (place: Place) => boolean {
  let known: ReadonlySet<Place> | null = null;
  return (place) => {
    known ??= new Set(places);
    return known.has(place);
  };
}

function traceAfter(root: Place, request: WireRequest, { before, rules: given }: TracingAfter): Trace {
  const keptMessages = sharedMessages(request, before?.request ?? null);
  // Counted from the end: what is new is little.
  const kept = before?.places.slice(0, before.places.length - unitsFrom(before.request, keptMessages)) ?? [];
  const units = clientUnits(request, keptMessages);
  const reasoning = units.filter(({ unit }) => unit.kind === "reasoning").map(({ unit }) => unit.key);
  const rules = { ...given, reasoningKeys: new Set(reasoning) };
  const found = behindHidden(follow(kept.at(-1) ?? root, units, rules), units);
  const followed = throughLeaf(found, units, rules);
  return { request, kept, keptMessages, units, rules, followed };
}
export type GivenRules = Omit<FollowRules, "reasoningKeys" | "isRecent">;

/** What of ours is hidden at the end of an answer, or behind results, belongs there, whoever knows of it. */
function behindHidden(followed: Followed, units: readonly ClientUnit[]): Followed {
  const next = units[followed.steps.length];
  const isOver = next?.begins === true && next.group.role !== "assistant";
  const isInside = next?.begins === false && next.unit.type !== "tool_result";
  if (isInside) return { ...followed, place: answeredEnd(followed.place) };
  return isOver ? { ...followed, place: hiddenEnd(followed.place) } : followed;
}

/** An answer nobody has listened to was still given to all that was sent, ours at its end included. */
function throughLeaf(followed: Followed, units: readonly ClientUnit[], rules: FollowRules): Followed {
  const { place, steps } = followed;
  let at = steps.length;
  if (at === units.length || units[at]?.group.role !== "assistant") return followed;
  // Reasoning that is not sent does not begin a message either.
  while (units[at]?.begins === false && steps[at - 1]?.as === "left-out") at -= 1;
  if (units[at]?.begins !== true) return followed;
  // A leaf on the way to another one is not remembered as such after a restart.
  return { ...followed, place: leafBelow(place, rules) ?? ownEnd(place, rules) };
}

/** A request that was sent, up to where its answer ended. */
export function traceAt({ request, places, end, rules }: Sent): Trace {
  const followed = { place: end, steps: [] };
  return { request, kept: places, keptMessages: request.messages.length, units: [], followed, rules };
}
type Sent = Traced & { readonly end: Place; readonly rules: FollowRules };

/** Whether the ledger has all of it: the same request was sent before. */
export function isKnown({ units, followed }: Trace): boolean {
  return followed.steps.length === units.length;
}

/**
 * What was heard and never sent, on the way to a place: the answer that the client repeats for the first
 * time. It is sent as the client writes it, but reasoning as it was heard, and with it what it is bound to.
 */
export function repeatedItems(trace: Trace): readonly Item[] {
  const { place, steps } = trace.followed;
  const copies = new Map(
    steps.flatMap((step, at) => (step.as === "copy" ? [[step.place, at] as const] : [])),
  );
  const unsent: Place[] = [];
  for (let at = place; at.sent === null; at = must(at.parent, "the root was sent")) unsent.push(at);
  const said = unsent.reverse();
  const bound = said.findLastIndex(isReasoning);
  return said.map((heard, index) =>
    repeatedItem(trace, heard, { at: copies.get(heard) ?? null, isBound: index <= bound }),
  );
}

type Repeated = { readonly at: number | null; readonly isBound: boolean };

function repeatedItem({ request, units }: Trace, heard: Place, { at, isBound }: Repeated): Item {
  const { origin, opens, facts, numbered } = heard;
  const copy = at === null ? null : must(units[at], "a copy is a unit");
  const group = copy?.group;
  const wrapping =
    group === undefined ? heard.wrapping : { role: group.role, head: group.head, tail: group.tail };
  const extra = copy === null ? heard.extra : copy.begins ? copy.group.extra : null;
  const common = { ...asIs, origin, opens, wrapping, extra, at, numbered, place: heard };
  if (copy === null || isBound) {
    const bytes = bytesOf(heard);
    return { ...common, facts, bytes, hash: hashContent(bytes) };
  }
  const bytes = unitBytes(request.bytes, copy.group.range.start, copy.unit);
  // A client that does not know a tool gives its call another name, and of commands it never heard.
  if (isRenamedCall(bytes) || facts.isCommanding === true) {
    const own = bytesOf(heard);
    return { ...common, facts, bytes: own, hash: hashContent(own) };
  }
  return { ...common, facts: copy.unit, bytes, hash: copy.unit.hash };
}

/** What nobody has sent yet, without reasoning that was made elsewhere. */
export function freshItems({ request, units, followed, rules }: Trace): readonly Item[] {
  const items: Item[] = [];
  const { place } = followed;
  let isOpen = isMessageOpen(units, followed);
  for (let at = followed.steps.length; at < units.length; at += 1) {
    const client = must(units[at], "units have no gaps");
    const { unit, group, begins } = client;
    if (begins) isOpen = false;
    if (isForeign(client, rules)) continue;
    const wrapping = isOpen
      ? (items.at(-1)?.wrapping ?? place.wrapping)
      : { role: group.role, head: group.head, tail: group.tail };
    const bytes = unitBytes(request.bytes, group.range.start, unit);
    const extra = begins || !isOpen ? group.extra : null;
    items.push({
      facts: unit,
      origin: originOf(group.role),
      wrapping,
      opens: !isOpen,
      extra,
      bytes,
      hash: unit.hash,
      at,
      place: null,
      isRewritten: false,
      isFromElsewhere: unit.kind === "reasoning" && !rules.trusts,
      original: null,
      first: null,
      from: null,
      numbered: null,
      showing: wholly,
      isHeader: false,
    });
    isOpen = true;
  }
  return items;
}

/** Whether the path ends inside the message of the first unit that is new. */
function isMessageOpen(units: readonly ClientUnit[], { steps }: Followed): boolean {
  const group = units[steps.length]?.group;
  return steps.some(({ as }, at) => as !== "left-out" && units[at]?.group === group);
}

/** The client's unit that each place is, by the same count: for a path that is told as a whole. */
export function unitIndexes(request: WireRequest, places: readonly Place[]): ReadonlyMap<Place, number> {
  const indexes = new Map<Place, number>();
  let next = request.tools.units.length + request.system.units.length;
  let at = 0;
  for (const group of request.messages) {
    for (let index = 0; index < group.units.length; index += 1) {
      const place = places[at + index];
      if (place !== undefined && !indexes.has(place)) indexes.set(place, next);
      next += 1;
    }
    at += unitCount(group);
  }
  return indexes;
}

/** Which of all the client's units each of the trace's units is: tools, system texts, then what is said. */
function flatIndexes({ request, keptMessages, units }: Trace): readonly (number | null)[] {
  const fresh = request.messages.slice(keptMessages).reduce((sum, group) => sum + group.units.length, 0);
  const said = request.talk.length - fresh;
  let next = request.tools.units.length + request.system.units.length + said;
  return units.map(({ unit }) => {
    if (!isReal(unit)) return null;
    next += 1;
    return next - 1;
  });
}

/** Units that were found as copies of something sent in another form, each with the block it is. */
export function otherForms(trace: Trace): readonly (SentCopy & { readonly key: string })[] {
  const { steps } = trace.followed;
  if (steps.length === 0) return [];
  const indexes = flatIndexes(trace);
  return steps.flatMap(({ place, as }, at) => {
    const [unit, index] = [trace.units[at]?.unit, indexes[at] ?? null];
    const isOther = as === "copy" && unit !== undefined && unit.key !== place.facts.key;
    return isOther && index !== null && place.numbered !== null
      ? [{ unit: index, numbered: place.numbered, key: unit.key }]
      : [];
  });
}

/** Which of all the client's units each item stands for; null where it is ours. */
export function clientIndexes(trace: Trace, items: readonly Item[]): readonly (number | null)[] {
  const fresh = flatIndexes(trace);
  const known = items.some(({ from }) => from !== null) ? unitIndexes(trace.request, placesIn(trace)) : null;
  return items.map(({ at, from }) => {
    if (at !== null) return fresh[at] ?? null;
    return from === null ? null : (known?.get(from) ?? null);
  });
}

/** What was left out has the place of what stands before it. */
function placesIn({ kept, followed }: Trace): readonly Place[] {
  return [...kept, ...followed.steps.map(({ place }) => place)];
}

function originOf(role: string): Item["origin"] {
  return role === "assistant" ? "model" : "client";
}
