import { must } from "../../base/index.ts";
import { nothingSaid, unitBytes, type WireGroup, type WireUnit } from "../../protocols/index.ts";
import { bytesOf, isOwn, isReasoning, type Place } from "./place.ts";
import { beginMerge, isSameUnit, type Merging, merge, spokenForms, textOf } from "./tolerance.ts";

/** A unit of the client's messages, with the message it stands in. */
export type ClientUnit = {
  readonly unit: WireUnit;
  readonly group: WireGroup;
  /** Whether it is the first of its message. */
  readonly begins: boolean;
};

export type FollowRules = {
  readonly bytes: Buffer;
  /** Whether units of ours may lie on the path. */
  readonly throughOwn: boolean;
  /** Whether what shows other words than the client's may. */
  readonly throughOther: (place: Place) => boolean;
  /** Whether units of ours may be system messages: not every model takes them between the others. */
  readonly throughSystem: boolean;
  /** Whether reasoning that was not made behind exactly this path is left out. */
  readonly leavesOut: boolean;
  /** Whether reasoning that is new here was made behind exactly these words. */
  readonly trusts: boolean;
  readonly isOwnLine: (line: string) => boolean;
  /** The model that is asked. */
  readonly model: string | null;
  /** The keys of reasoning that the client sends: what it sends in other words it has not dropped. */
  readonly reasoningKeys: ReadonlySet<string>;
  /** Whether a place lies on the path of the request before, which this one most likely goes on with. */
  readonly isRecent: (place: Place) => boolean;
};

/** The longest path that says what the client says, with one step for each unit that was found. */
export type Followed = { readonly place: Place; readonly steps: readonly Step[] };

/**
 * Copy: the unit is this place. Merged: it is several places, this one the last, or this place is several
 * units. Left out: it is not sent, and the path stays where it was, or goes on to what we hid in its place.
 */
export type Step = { readonly place: Place; readonly as: "copy" | "merged" | "left-out" };

/** Places looked at from one place on: ours and reasoning in between, never many. */
const reachMax = 256;

/**
 * Walks down from a place as long as the tree says what the client says. Where it could go several ways, as
 * after identical requests, the way that leads farthest is taken; among equals the one that was sent last,
 * then one that this model was sent, which is cached for it, and of these the newest.
 */
export function follow(from: Place, units: readonly ClientUnit[], rules: FollowRules): Followed {
  return walk({ units, rules, walked: new Map() }, from, 0);
}

/** What has been found out below a place from one unit on: several ways may lead there. */
type Walk = {
  readonly units: readonly ClientUnit[];
  readonly rules: FollowRules;
  readonly walked: Map<Place, Map<number, Followed>>;
};

function walk(walking: Walk, from: Place, start: number): Followed {
  const { units, rules } = walking;
  const steps: Step[] = [];
  let place = from;
  for (let at = start; at < units.length; at = start + steps.length) {
    const [way, ...others] = waysFrom(place, units, { at, rules });
    if (way === undefined) break;
    if (others.length > 0) {
      const rest = farthest(walking, [way, ...others], at);
      return { place: rest.place, steps: [...steps, ...rest.steps] };
    }
    steps.push(...way);
    place = endOf(way);
  }
  return { place, steps };
}

/** One step for each of the next units: for more than one where they are one place. */
type Way = readonly Step[];

function endOf(way: Way): Place {
  return must(way.at(-1), "a way has a step").place;
}

function farthest(walking: Walk, ways: readonly Way[], at: number): Followed {
  let best: Followed | null = null;
  for (const first of ways) {
    const rest = walkOnce(walking, endOf(first), at + first.length);
    const way = { place: rest.place, steps: [...first, ...rest.steps] };
    if (best === null || isBetter(way, best, walking.rules)) best = way;
  }
  return must(best, "there is a way");
}

function isBetter(way: Followed, best: Followed, { model, isRecent }: FollowRules): boolean {
  const farther = way.steps.length - best.steps.length;
  if (farther !== 0) return farther > 0;
  const [isWay, isBest] = [isRecent(way.place), isRecent(best.place)];
  // Reasoning that comes back goes where it was, though it was left out last time.
  const isLeft = way.steps[0]?.as === "left-out";
  if (isWay !== isBest && !isLeft) return isWay;
  return way.place.model === model && best.place.model !== model;
}

function walkOnce(walking: Walk, from: Place, start: number): Followed {
  const below = walking.walked.get(from) ?? new Map<number, Followed>();
  walking.walked.set(from, below);
  const found = below.get(start) ?? walk(walking, from, start);
  below.set(start, found);
  return found;
}

type Here = { readonly at: number; readonly rules: FollowRules };

function waysFrom(place: Place, units: readonly ClientUnit[], { at, rules }: Here): readonly Way[] {
  const unit = must(units[at], "there is one to be found");
  const below = childrenBelow(place, unit, rules);
  const copies = copiesOf(below, unit, rules);
  const found = copies.map((child): Way => [{ place: child, as: "copy" }]);
  const mustLeave = found.length === 0 && isForeign(unit, rules);
  const isReasoned = unit.unit.kind === "reasoning";
  if (mustLeave || (isReasoned && goesOnWithout(place, units, { at, rules }))) {
    return [...found, [{ place, as: "left-out" }]];
  }
  const unsaid = found.length === 0 && isNothingSaid(unit, rules) ? lastHidden(place, rules) : undefined;
  if (unsaid !== undefined) return [[{ place: unsaid, as: "left-out" }]];
  // Another path may have it in parts, or in one where it comes in parts.
  const isOther = copies.some(({ facts }) => facts.hash !== unit.unit.hash);
  const isAll = isOther && repeatsOwn(unit, rules);
  const others = isAll ? below : below.filter((child) => !copies.includes(child));
  const parted = others.flatMap((child) => partedWay(child, units, { at, rules }));
  return [...found, ...joinedWays(others, unit, rules), ...parted];
}

function joinedWays(below: readonly Place[], unit: ClientUnit, rules: FollowRules): readonly Way[] {
  return below
    .flatMap((child) => mergedFrom(child, unit, rules))
    .map((child) => [{ place: child, as: "merged" }]);
}

/** Without its lines of ours it may be one thing the model said; with them, that and what it said next. */
function repeatsOwn({ unit, group }: ClientUnit, { bytes, isOwnLine }: FollowRules): boolean {
  if (unit.type !== "text" || group.role !== "assistant") return false;
  const text = textOf(unitBytes(bytes, group.range.start, unit));
  return text?.split("\n").some(isOwnLine) === true;
}

/**
 * A text that was sent as the client had joined it, having dropped the reasoning in between, and that comes
 * back in parts: what was sent first holds.
 */
function partedWay(child: Place, units: readonly ClientUnit[], { at, rules }: Here): readonly Way[] {
  const first = units[at];
  const whole = child.sent !== null && child.facts.type === "text" ? textOf(wordsKnown(child)) : null;
  if (whole === null || first === undefined || child.wrapping.role !== "assistant") return [];
  const way: Step[] = [];
  let merging: ReturnType<typeof merge> = beginMerge(whole);
  for (const { unit, group } of units.slice(at)) {
    if (typeof merging === "string" || group !== first.group) break;
    const isLeft = unit.kind === "reasoning" && way.length > 0;
    way.push({ place: child, as: isLeft ? "left-out" : "merged" });
    const text = isLeft ? null : textOf(unitBytes(rules.bytes, group.range.start, unit));
    if (!isLeft) merging = text === null ? "other" : merge(merging, text);
  }
  return merging === "merged" ? [way] : [];
}

/** What a client is given where a model has done nothing but call us. */
function isNothingSaid({ unit, group }: ClientUnit, { bytes }: FollowRules): boolean {
  if (unit.type !== "text" || group.role !== "assistant") return false;
  return textOf(unitBytes(bytes, group.range.start, unit)) === nothingSaid;
}

function lastHidden(place: Place, rules: FollowRules): Place | undefined {
  return reach(place, rules, droppedBy(rules)).findLast(({ facts }) => facts.isHidden === true);
}

/** What a client may say next, the newest first. */
function childrenBelow(place: Place, { unit }: ClientUnit, rules: FollowRules): readonly Place[] {
  const below = reach(place, rules, droppedBy(rules)).flatMap(({ children }) => [...children].reverse());
  // A call of ours that has got through to a client comes back from it.
  const isLeaked = ({ facts }: Place): boolean =>
    facts.isHidden === true && facts.callId !== null && facts.callId === unit.callId;
  const isPassable = (child: Place): boolean => !child.isRewritten || rules.throughOther(child);
  return below.filter(
    (child) => (!isOwn(child) || isLeaked(child)) && !isUnbound(child, rules) && isPassable(child),
  );
}

/** Reasoning that the client does not send any more. */
function droppedBy(rules: FollowRules): (child: Place) => boolean {
  return (child) =>
    isReasoning(child) && !isUnbound(child, rules) && !rules.reasoningKeys.has(child.facts.key);
}

/** Reasoning that another model let pass here. */
function isUnbound({ isFromElsewhere }: Place, { leavesOut }: FollowRules): boolean {
  return isFromElsewhere && leavesOut;
}

function copiesOf(below: readonly Place[], unit: ClientUnit, rules: FollowRules): readonly Place[] {
  const exact = below.filter((child) => child.facts.key === unit.unit.key && says(child, unit, rules));
  // What was edited and put back is what it was, whatever else would be tolerated. What was only heard may
  // have been sent in another form.
  const isEqual = ({ facts, sent }: Place): boolean => facts.hash === unit.unit.hash && sent !== null;
  const equal = exact.filter((child) => child.isRewritten || isEqual(child));
  if (equal.length > 0) {
    // The form alone tells nothing: a client that changes it may mean any of those that say the same.
    const isOther = (child: Place): boolean =>
      saysLoosely(child, unit, rules) && isOnlyFormed(child, unit, rules);
    return below.filter((child) => equal.includes(child) || isOther(child));
  }
  return exact.length > 0 ? exact : below.filter((child) => saysLoosely(child, unit, rules));
}

/** Whether a place that was sent differs from a copy in nothing but how it is written. */
function isOnlyFormed(child: Place, { unit, group }: ClientUnit, rules: FollowRules): boolean {
  if (child.sent === null) return false;
  const copy = unitBytes(rules.bytes, group.range.start, unit);
  // A user's words have no other tolerance.
  return isSameUnit(wordsKnown(child), copy, { role: "user", isOwnLine: rules.isOwnLine });
}

/** The client's words; where they are forgotten, what was sent may be all of them in another form. */
function wordsKnown(place: Place): Uint8Array {
  return (place.isRewritten ? place.original : null) ?? bytesOf(place);
}

/** Whether this reasoning, and all that follows at once, was left out here before. */
function goesOnWithout(place: Place, units: readonly ClientUnit[], { at, rules }: Here): boolean {
  let after = at;
  while (units[after]?.unit.kind === "reasoning") after += 1;
  const next = units[after];
  if (next === undefined) return false;
  const below = reach(place, rules, () => false).flatMap(({ children }) => children);
  const spoken = below.filter((child) => !isOwn(child));
  return (
    copiesOf(spoken, next, rules).length > 0 ||
    spoken.some((child) => mergedFrom(child, next, rules).length > 0) ||
    spoken.some((child) => partedWay(child, units, { at: after, rules }).length > 0)
  );
}

/** The place itself, and those behind it that a client does not know of or has dropped, the newest first. */
function reach(place: Place, rules: FollowRules, isDropped: (child: Place) => boolean): readonly Place[] {
  const reached = [place];
  for (let at = 0; at < reached.length && reached.length < reachMax; at += 1) {
    for (const child of [...(reached[at]?.children ?? [])].reverse()) {
      if (isOwn(child) ? isPassed(child, rules) : isDropped(child)) reached.push(child);
    }
  }
  return reached;
}

/** Whether a path may lead through this unit of ours. */
export function isPassed({ wrapping }: Place, { throughOwn, throughSystem }: FollowRules): boolean {
  return throughOwn && (throughSystem || wrapping.role !== "system");
}

/** The newest request that ended where the client's words end. */
export function leafBelow(place: Place, rules: FollowRules): Place | null {
  for (const child of [...place.children].reverse()) {
    const leaf = isOwn(child) && isPassed(child, rules) ? leafBelow(child, rules) : null;
    if (leaf !== null) return leaf;
  }
  return place.isLeaf && place.sent !== null ? place : null;
}

/** What of ours was sent behind the client's last words, the newest of it. */
export function ownEnd(place: Place, rules: FollowRules): Place {
  const isBehind = (child: Place): boolean =>
    isOwn(child) && isPassed(child, rules) && (!child.opens || child.wrapping.role === "system");
  const own = place.children.findLast(isBehind);
  return own === undefined ? place : ownEnd(own, rules);
}

/** Reasoning that no path here has brought forth: a provider that binds it would refuse it. */
export function isForeign({ unit }: ClientUnit, { leavesOut }: FollowRules): boolean {
  return unit.kind === "reasoning" && leavesOut;
}

function says(child: Place, { unit, group, begins }: ClientUnit, rules: FollowRules): boolean {
  const { facts, forms, wrapping } = child;
  if (wrapping.role !== group.role || facts.type !== unit.type) return false;
  // What was heard takes the wrapping the client gives it.
  if (child.sent !== null && (child.extra ?? "") !== (begins ? group.extra : "")) return false;
  if (facts.hash === unit.hash) {
    // After a restart the client is the one who still has them.
    if (child.isRewritten && child.original === null)
      child.original = Uint8Array.from(unitBytes(rules.bytes, group.range.start, unit));
    return true;
  }
  if (forms.includes(unit.hash)) return true;
  // Words that are not known any more cannot be compared, but a key made from them says as much.
  const isForgotten = child.isRewritten && child.original === null;
  if (isForgotten && facts.key === unit.key && !/^(?:call|sign):/.test(unit.key)) return true;
  const known = wordsKnown(child);
  const copy = unitBytes(rules.bytes, group.range.start, unit);
  const isSame = isSameUnit(known, copy, { role: group.role, isOwnLine: rules.isOwnLine });
  if (isSame && forms.length < formsMax) forms.push(unit.hash);
  return isSame;
}

const formsMax = 8;

/** Another key: a result in another form, or a text that was stripped of our lines. */
function saysLoosely(child: Place, client: ClientUnit, rules: FollowRules): boolean {
  const { facts } = child;
  if (facts.type !== client.unit.type || facts.callId !== client.unit.callId) return false;
  return says(child, client, rules);
}

/** The last of several texts of one message that the client sent as one. */
function mergedFrom(first: Place, { unit, group, begins }: ClientUnit, rules: FollowRules): readonly Place[] {
  if (unit.type !== "text" || first.facts.type !== "text" || first.wrapping.role !== group.role) return [];
  if ((first.extra ?? "") !== (begins ? group.extra : "")) return [];
  const whole = textOf(unitBytes(rules.bytes, group.range.start, unit));
  // Only of what the model says a client may have got less than was said.
  const isOwnLine = group.role === "assistant" ? rules.isOwnLine : () => false;
  return whole === null ? [] : mergedIn(first, beginMerge(whole), { ...rules, isOwnLine });
}

/** On every way on: one of the texts may have been edited before they were joined. */
function mergedIn(first: Place, begun: Merging, rules: FollowRules): readonly Place[] {
  const found: Place[] = [];
  const open = [{ place: first, merging: begun }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const text = textOf(bytesOf(next.place));
    for (const form of text === null ? [] : spokenForms(text, rules.isOwnLine)) {
      const merging = merge(next.merging, form);
      if (merging === "merged") found.push(next.place);
      else if (merging !== "other") {
        open.push(...nextTexts(next.place, rules).map((place) => ({ place, merging })));
      }
    }
  }
  return [...new Set(found)];
}

/** Behind calls that were hidden from the client the same answer goes on, if in a message of its own. */
function nextTexts(place: Place, rules: FollowRules): readonly Place[] {
  const isText = ({ facts }: Place): boolean => facts.type === "text";
  const direct = place.children.filter((child) => isText(child) && child.extra === null && !isOwn(child));
  const hidden = hiddenEnds(place, rules).flatMap(({ children }) => children);
  return [...direct, ...hidden.filter((child) => isText(child) && !isOwn(child))];
}

/** What was hidden behind a place, and reasoning there that the client has dropped. */
function hiddenEnds(place: Place, rules: FollowRules): readonly Place[] {
  const isHidden = (child: Place): boolean =>
    isOwn(child) && child.facts.callId !== null && isPassed(child, rules);
  const isDropped = droppedBy(rules);
  const isBetween = (child: Place): boolean => isHidden(child) || isDropped(child);
  const ends = place.children.filter(isBetween);
  for (let at = 0; at < ends.length && ends.length < reachMax; at += 1)
    ends.push(...(ends[at]?.children ?? []).filter(isBetween));
  return ends;
}
