import { hashContent, must } from "../../base/index.ts";
import {
  type AnswerUnit,
  emitMarked,
  isClearing,
  modelTraits,
  type WireRequest,
} from "../../protocols/index.ts";
import type { SentReport, SentUnit } from "../desk-port.ts";
import { closing, emitRequest, marksOf } from "./body.ts";
import { type Item, newPlace, pathUnits, spellItems, writeItems } from "./draft.ts";
import { leafBelow } from "./follow.ts";
import { type Head, hasHead, openHead } from "./head.ts";
import type { Image } from "./image.ts";
import { type OwnTexts, ownTexts } from "./inserts.ts";
import { isSilent, withOwn } from "./own-items.ts";
import { cutBranch, forgetHeard, moveTo, type Place, sentOf, type UnitFacts } from "./place.ts";
import { headIdOf, pathIn, type RecalledTurn, recallHead, recallPath } from "./recalled.ts";
import type { Purpose, RenderAsked, Rendered } from "./rendering.ts";
import { cutId, type Rewrite, type Rewritten, rewritePath, withoutReasoning } from "./rewrite.ts";
import {
  clientIndexes,
  freshItems,
  type GivenRules,
  isKnown,
  repeatedItems,
  type Trace,
  traceRequest,
  unitIndexes,
} from "./trace.ts";
import { type Withheld, withheldFor } from "./withheld.ts";

/** The last turn, to begin the next one where it still holds. */
type Current = {
  readonly request: WireRequest;
  readonly head: Head;
  readonly style: RenderAsked["style"];
  /** One for each unit of the messages. */
  readonly places: readonly Place[];
};

/** Heads kept, the one used last at the end: a client may come back to one, several agents share a name. */
const headsMax = 16;
const branchesMax = 256;
/** Answers to one request that nobody has repeated yet: as many as may be asked for at once. */
const heardMax = 256;
const branchBytesMax = 32 * 1024 * 1024;

/** Everything that was sent upstream for one stream, as a tree; each request is a path in it. */
export class StreamLedger {
  readonly texts: OwnTexts;
  #heads: readonly Head[] = [];
  #current: Current | null = null;
  readonly #isNew: boolean;
  /** One for each branch, with where it ends; the one used last at the end. */
  readonly #images = new Map<Image, Place>();
  #turn = 0;
  #rewrite: Rewrite | null = null;
  #withheld: Withheld = new Map();

  /** New: nothing of ours was ever sent, so that reasoning in a history is the client's own affair. */
  constructor(nonce: string, isNew: boolean) {
    this.texts = ownTexts(nonce);
    this.#isNew = isNew;
  }

  /** Of what it holds in memory. */
  bytes(): number {
    return [...this.#images.keys()].reduce((sum, { capacity }) => sum + capacity, 0);
  }

  /** Whether anything of ours can be said: our instructions stand in front, or can still be given. */
  canManage({ request, isCold }: Pick<RenderAsked, "request" | "isCold">): boolean {
    const head = this.#headOf({ request, isCold, style: "managed" });
    const isBare = head === null ? this.#joins({ request, isCold }) : head.instructions === null;
    return !isBare || modelTraits(request.model).hasMidSystem;
  }

  /** Shown as its placeholder from now on, in whatever is sent. */
  withhold(withheld: Withheld): void {
    this.#withheld = withheld;
  }

  /** To be applied by the next turn. */
  rewrite(rewrite: Rewrite): void {
    this.#rewrite = rewrite;
  }

  /** Whether the next turn will be compared with this request. */
  holds(request: WireRequest): boolean {
    return this.#current?.request === request;
  }

  /** How many units of a request's messages the ledger knows, whatever stands in front of them. */
  knows(request: WireRequest): number {
    const known = this.#heads.map((head) => {
      const { kept, followed } = this.#trace(head, { request, style: "managed" });
      return kept.length + followed.steps.length;
    });
    return Math.max(0, ...known);
  }

  render(asked: RenderAsked): Rendered {
    const { request, purpose, style } = asked;
    const head = this.#headFor(asked);
    const trace = this.#trace(head, asked);
    const isRepeated = isKnown(trace) && purpose === "turn";
    const leaf = isRepeated ? leafBelow(trace.followed.place, trace.rules) : null;
    const rewritten = this.#rewritten(trace, purpose);
    if (leaf !== null && rewritten === null) return this.#sendAgain(asked, { head, trace, leaf });
    const traits = modelTraits(request.model);
    const { place } = trace.followed;
    const own = withOwn({
      items: freshItems(trace),
      last: place,
      texts: this.texts,
      turn: this.#turn + 1,
      traits,
      mayClear: asked.mayClear,
      needsJoin: head.instructions === null && !place.hasOwn,
      purpose: style === "plain" ? "aside" : purpose,
      isEpochStart: this.#turn === 0 || rewritten !== null,
    });
    const heard = repeatedItems(trace);
    const said = [...(rewritten?.items ?? []), ...heard, ...own.items];
    // What is bound to the old words is left out, and what stood behind it in its message begins the message.
    const left = rewritten !== null && traits.isBound ? withoutReasoning(said) : said;
    const items = left.map((item) => this.#shown(item));
    const from = rewritten?.cut ?? heard[0]?.place?.parent ?? place;
    const plan: Plan = { asked, head, trace, from, items, dropped: own.dropped };
    return purpose === "turn" ? this.#send(plan, rewritten) : spell(plan);
  }

  /** Puts a turn back that an earlier process sent; null where its body and its path do not fit together. */
  recall(recalled: RecalledTurn): Place | null {
    const path = pathIn(recalled);
    if (path === null) return null;
    const id = headIdOf(path);
    const known = this.#heads.find(({ root }) => sentOf(root).id === id);
    const head = known ?? recallHead(path, recalled.request);
    if (known === undefined) this.#heads = [...this.#heads.slice(1 - headsMax), head];
    const leaf = recallPath(path, head, recalled.request);
    leaf.isLeaf = true;
    this.#hold(leaf);
    this.#turn = Math.max(this.#turn, recalled.turn);
    return leaf;
  }

  /** The answer to what ended at a leaf. */
  heard(leaf: Place, units: readonly AnswerUnit[]): void {
    let parent = leaf;
    for (const [at, { unit, bytes }] of units.entries()) {
      const known = parent.children.find(
        ({ facts, origin }) => origin === "model" && facts.hash === unit.hash,
      );
      const extra = at === 0 ? "" : null;
      const facts = {
        facts: unit,
        origin: "model",
        wrapping: answerWrapping,
        opens: at === 0,
        extra,
      } as const;
      const place = known ?? newPlace(parent, { ...facts, ...firstHeard });
      if (known === undefined) {
        place.heard = bytes;
        parent.children.push(place);
        forgetHeard(parent, heardMax);
      }
      parent = place;
    }
  }

  /** What came before our first turn was made behind exactly what the client sends, if nothing is added. */
  #trusts({ instructions }: Head): boolean {
    return this.#isNew && this.#turn === 0 && instructions === null;
  }

  #rulesFor(head: Head, { request, style }: Pick<RenderAsked, "request" | "style">): GivenRules {
    const { isBound, hasMidSystem } = modelTraits(request.model);
    return {
      bytes: request.bytes,
      throughOwn: style === "managed",
      throughSystem: hasMidSystem,
      leavesOut: isBound && !this.#trusts(head),
      trusts: this.#trusts(head),
      isOwnLine: this.texts.isOwnLine,
      model: request.model,
    };
  }

  #trace(head: Head, asked: Pick<RenderAsked, "request" | "style">): Trace {
    const { request, style } = asked;
    const current = this.#current;
    const isSameModel = current?.request.model === request.model;
    const goesOn = isSameModel && current.head === head && current.style === style;
    const rules = this.#rulesFor(head, asked);
    return traceRequest(head.root, request, { before: goesOn ? current : null, rules });
  }

  /** The head in use goes on as it is; only a new one is opened in the way that is wanted now. */
  #headFor(asked: RenderAsked): Head {
    const known = this.#headOf(asked);
    if (known !== null) {
      this.#heads = [...this.#heads.filter((head) => head !== known), known];
      return known;
    }
    const { request, style } = asked;
    const isJoin = this.#joins(asked);
    const instructions = style === "plain" || isJoin ? null : this.texts.instructions;
    const head = openHead({ request, instructions });
    this.#heads = [...this.#heads.slice(1 - headsMax), head];
    return head;
  }

  /** Nothing in front of what the model has said already may change, unless nothing of it is cached. */
  #joins({ request, isCold }: Pick<RenderAsked, "request" | "isCold">): boolean {
    return this.#heads.length === 0 && !isCold && request.messages.some(({ role }) => role === "assistant");
  }

  #headOf({ request, style, isCold }: Pick<RenderAsked, "request" | "style" | "isCold">): Head | null {
    const current = this.#current;
    const needsFront = style === "managed" && isCold && !modelTraits(request.model).hasMidSystem;
    const mayServe = ({ instructions }: Head): boolean =>
      style === "plain" ? instructions === null : !needsFront || instructions !== null;
    const isSame = ({ tools, system }: WireRequest): boolean =>
      request.tools.units === tools.units && request.system.units === system.units;
    const serving = this.#heads.filter(
      (head) =>
        mayServe(head) && ((head === current?.head && isSame(current.request)) || hasHead(head, request)),
    );
    return serving.length > 1 ? this.#bestHead(serving, { request, style }) : (serving[0] ?? null);
  }

  /** Sent both with and without anything of ours: a request goes on where most of it is known. */
  #bestHead(heads: readonly Head[], asked: Pick<RenderAsked, "request" | "style">): Head | null {
    const known = heads.map((head) => {
      const rules = this.#rulesFor(head, asked);
      const { steps } = traceRequest(head.root, asked.request, { before: null, rules }).followed;
      const leftOut = steps.filter(({ as }) => as === "left-out").length;
      // How far it leads counts first, then how much of it is really there.
      return { head, units: steps.length - leftOut / (steps.length + 1) };
    });
    const most = Math.max(...known.map(({ units }) => units));
    const best = known.filter(({ units }) => units === most).map(({ head }) => head);
    // Among equals the one with our instructions in front, which a talk leaves only when it is sent without.
    return best.find(({ instructions }) => instructions !== null) ?? best.at(-1) ?? null;
  }

  /** What the user withheld goes at once, the rest with a turn. */
  #rewritten({ followed }: Trace, purpose: Purpose): Rewritten | null {
    const wanted = purpose === "turn" ? this.#rewrite : null;
    if (wanted !== null) this.#rewrite = null;
    if (wanted === null && this.#withheld.size === 0) return null;
    const wordsFor = (facts: UnitFacts): Uint8Array | undefined =>
      withheldFor(this.#withheld, facts) ?? wanted?.replacements.get(facts.key);
    return rewritePath(followed.place, { wordsFor, reason: wanted?.reason ?? "user" });
  }

  #shown(item: Item): Item {
    const bytes = item.origin === "aperture" ? undefined : withheldFor(this.#withheld, item.facts);
    if (bytes === undefined) return item;
    const original = item.original ?? Uint8Array.from(item.bytes);
    return { ...item, bytes, hash: hashContent(bytes), isRewritten: true, original };
  }

  /** A branch in use holds its whole path in one image; branches long unused are given up. */
  #hold(leaf: Place): void {
    const { image } = sentOf(leaf);
    if (!this.#images.delete(image)) moveTo(image, leaf);
    this.#images.set(image, leaf);
    for (const old of this.#images.keys()) {
      if (old === image || (this.#images.size <= branchesMax && this.bytes() <= branchBytesMax)) return;
      this.#images.delete(old);
      // What it has in common with others may lie in the branch that goes.
      for (const [kept, end] of this.#images) moveTo(kept, end);
      for (const { root } of this.#heads) cutBranch(root, old);
    }
  }

  #send(plan: Plan, rewritten: Rewritten | null): Rendered {
    const { asked, head, trace, from, items } = plan;
    const written = writeItems(from, items, asked.request.model);
    const leaf = written.places.at(-1) ?? from;
    leaf.isLeaf = true;
    this.#turn += 1;
    this.#hold(leaf);
    const places = placesAfter(trace, items, written.places);
    this.#current = { request: asked.request, head, style: asked.style, places };
    const indexes = clientIndexes(trace, items);
    const units = written.units.map((unit, at) => ({ ...unit, unit: indexes[at] ?? null }));
    const epoch =
      rewritten === null ? null : { cut: cutId(rewritten), reason: rewritten.reason, means: "own" as const };
    return this.#sent(plan, { leaf, places, fresh: units, epoch });
  }

  /** The same request once more: the same bytes once more. */
  #sendAgain(asked: RenderAsked, { head, trace, leaf }: Again): Rendered {
    const places = placesAfter(trace, [], []);
    this.#current = { request: asked.request, head, style: asked.style, places };
    const { isBound } = modelTraits(asked.request.model);
    const { facts, wrapping } = leaf;
    const isOpen = wrapping.role !== "assistant" && !isSilent(facts.type, wrapping.role);
    const isDropped = asked.style === "managed" && !isBound && isOpen;
    const dropped = isDropped ? this.texts.tail(this.#turn) : null;
    const plan: Plan = { asked, head, trace, from: leaf, items: [], dropped };
    return this.#sent(plan, { leaf, places, fresh: [], epoch: null });
  }

  #sent(plan: Plan, { leaf, places, fresh, epoch }: Sent): Rendered {
    const { asked, head, dropped } = plan;
    const { id, image, end } = sentOf(leaf);
    const marks = marksOf(asked, places.length, (at) => places[at]?.sent?.end ?? null);
    const messages = [...emitMarked(image.slice(0, end), marks), closing(dropped, leaf.wrapping.tail)];
    const isWhole = asked.reportsAll || !head.isTold;
    const said = asked.reportsAll ? pathUnits(leaf, unitIndexes(asked.request, places)) : fresh;
    const report = { leaf: id, fresh: isWhole ? [...head.units, ...said] : said, isTurn: true, epoch };
    head.isTold = true;
    return { ...emitRequest(asked, head, messages), usesClearing: leaf.hasClearing, report, leaf };
  }
}

const firstHeard = { isRewritten: false, isFromElsewhere: false, original: null } as const;
const answerWrapping = { role: "assistant", head: '{"role":"assistant","content":[', tail: "]}" };

type Plan = {
  readonly asked: RenderAsked;
  readonly head: Head;
  readonly trace: Trace;
  /** The last place that was sent before, and what is sent behind it. */
  readonly from: Place;
  readonly items: readonly Item[];
  readonly dropped: string | null;
};
type Again = { readonly head: Head; readonly trace: Trace; readonly leaf: Place };
type Sent = {
  readonly leaf: Place;
  readonly places: readonly Place[];
  readonly fresh: readonly SentUnit[];
  readonly epoch: SentReport["epoch"];
};

/** The request without a trace in the ledger. */
function spell({ asked, head, trace, from, items, dropped }: Plan): Rendered {
  const { id, image, end } = sentOf(from);
  const spelled = spellItems({ end, tail: from.wrapping.tail }, items);
  const ends = new Map(
    items.flatMap(({ at }, index) => (at === null ? [] : [[at, spelled.ends[index] ?? 0] as const])),
  );
  const moved = new Map(items.map(({ from: old, place }, index) => [old ?? place, spelled.ends[index]]));
  const { kept, followed } = trace;
  const endOf = (at: number): number | null => {
    const local = at - kept.length;
    const place = local < 0 ? kept[at] : followed.steps[local]?.place;
    return ends.get(local) ?? (place && moved.get(place)) ?? place?.sent?.end ?? null;
  };
  const marks = marksOf(asked, kept.length + trace.units.length, endOf);
  const messages = [
    ...emitMarked(
      image.slice(0, end),
      marks.filter((mark) => mark.end <= end),
    ),
    ...emitMarked(
      spelled.bytes,
      marks.filter((mark) => mark.end > end).map((mark) => ({ ...mark, end: mark.end - end })),
    ),
    closing(dropped, spelled.tail),
  ];
  const hasClearing =
    from.hasClearing || items.some(({ wrapping, opens }) => opens && isClearing(wrapping.head));
  const report = { leaf: id, fresh: [], isTurn: false, epoch: null };
  return { ...emitRequest(asked, head, messages), usesClearing: hasClearing, report, leaf: from };
}

/** For each unit of the client's messages the place it has now; what is left out has the place before it. */
function placesAfter(
  { kept, units, followed }: Trace,
  items: readonly Item[],
  written: readonly Place[],
): readonly Place[] {
  const moved = new Map<Place, Place>();
  const placed = new Map<number, Place>();
  for (const [index, { at, place, from }] of items.entries()) {
    const now = must(written[index], "every item has a place");
    const before = from ?? place;
    if (before !== null && before !== now) moved.set(before, now);
    if (at !== null) placed.set(at, now);
  }
  const before = [...kept, ...followed.steps.map(({ place }) => place)];
  const places = moved.size === 0 ? before : before.map((place) => moved.get(place) ?? place);
  for (let at = followed.steps.length; at < units.length; at += 1) {
    places.push(placed.get(at) ?? must(places.at(-1) ?? written[0] ?? followed.place, "something was sent"));
  }
  return places;
}
