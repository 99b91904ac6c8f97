import { isCommandLine } from "../../commands/index.ts";
import { type AnswerUnit, emitMarked, modelTraits, type WireRequest } from "../../protocols/index.ts";
import { continuesOwnLine, instructions, isOwnLine, opensOwnLines } from "../../render/index.ts";
import type { Numbered, Strips } from "../desk-port.ts";
import { TokenGauge } from "../unit-tokens.ts";
import { Arrivals } from "./arrivals.ts";
import { closing, emitRequest, marksOf, withAnchor } from "./body.ts";
import { Branches } from "./branches.ts";
import type { Choosing } from "./choosing.ts";
import { editBehind, hasCleared } from "./clearing.ts";
import { type Item, pathUnits, writeItems } from "./draft.ts";
import { leafBelow } from "./follow.ts";
import { type Head, type OwnHead, ownHead } from "./head.ts";
import { noteAnnounced, unannounced, withHeaders } from "./headers.ts";
import { Heads } from "./heads.ts";
import { hear } from "./hear.ts";
import { numberItems } from "./number-items.ts";
import type { StreamNumbers } from "./numbers.ts";
import { answeredCalls, openCalls, withResults } from "./own-calls.ts";
import { type WithOwn, withOwn } from "./own-items.ts";
import { answersMessage, lineAnswers, offeredBy, withAnswers } from "./own-texts.ts";
import { type Place, pathTo, rootOf, sentOf } from "./place.ts";
import {
  type Again,
  type Answered,
  type Begun,
  type OwnPlace,
  type Plan,
  placesAfter,
  type Sent,
  spell,
} from "./plan.ts";
import { headIdOf, pathIn, type RecalledTurn, recallHead, recallPath } from "./recalled.ts";
import type { RenderAsked, Rendered } from "./rendering.ts";
import { renumber } from "./renumber.ts";
import { reshownBy } from "./reshown.ts";
import { behindCut, epochOf, lastAnswer, type Rewrite, type Rewritten, withoutReasoning } from "./rewrite.ts";
import { rewrittenFor } from "./rewriting.ts";
import type { CommandForm, SizedBlock } from "./saying.ts";
import { headTokens, sizedHead, sizedItems, sizedPath } from "./sized-path.ts";
import {
  clientIndexes,
  freshItems,
  type GivenRules,
  isKnown,
  otherForms,
  repeatedItems,
  type Trace,
  traceAt,
  traceRequest,
  unitIndexes,
} from "./trace.ts";
import { unsaidMemories } from "./unsaid-memories.ts";
import { isPlain, type Withheld, withheldItem } from "./withheld.ts";

/** The last turn, to begin the next one where it still holds. */
type Current = {
  readonly request: WireRequest;
  readonly head: Head;
  readonly style: RenderAsked["style"];
  /** One for each unit of the messages. */
  readonly places: readonly Place[];
};

/** Everything that was sent upstream for one stream, as a tree; each request is a path in it. */
export class StreamLedger {
  readonly nonce: string;
  readonly isOwnLine: (line: string) => boolean;
  readonly strips: Strips;
  readonly #ownHeads: Readonly<Record<CommandForm, OwnHead>>;
  /** What is said where a stream is joined late: tools cannot be added any more. */
  readonly #lateInstructions: string;
  readonly #numbers: StreamNumbers;
  readonly #heads = new Heads();
  #current: Current | null = null;
  #isNew: boolean;
  readonly #branches = new Branches();
  #turn = 0;
  /** What the provider counts for each token we do. */
  #rate = 1;
  /** Where the last turn ended. */
  #lastLeaf: Place | null = null;
  /** When the last turn was sent. */
  #turnMs: number | null = null;
  #rewrite: Rewrite | null = null;
  /** Where the last rewrite ended: a mark keeps all before it in the cache, so that the next one is cheap. */
  #anchor: Place | null = null;
  #withheld: Withheld = new Map();
  readonly #arrivals: Arrivals;

  /** New: nothing of ours was ever sent, so that reasoning in a history is the client's own affair. */
  constructor({ nonce, isNew, numbers }: LedgerAsked) {
    this.nonce = nonce;
    const isOwn = (line: string): boolean => isOwnLine(line, nonce);
    // A client lacks the command lines too, but only where they were free, which the stripper does not know.
    this.isOwnLine = (line) => isOwn(line) || isCommandLine(line, nonce);
    this.strips = { isOwn, opens: opensOwnLines, continues: continuesOwnLine };
    this.#ownHeads = { tools: ownHead(nonce), text: ownHead(nonce, "text") };
    this.#lateInstructions = instructions(nonce, { hasTools: false });
    this.#isNew = isNew;
    this.#numbers = numbers;
    this.#arrivals = new Arrivals(nonce);
  }

  /** The log has come further: turns that passed as they came count too. */
  catchUp(turn: number): void {
    this.#turn = Math.max(this.#turn, turn);
  }

  /** The last one that was sent. */
  get turn(): number {
    return this.#turn;
  }

  /** Of what it holds in memory. */
  bytes(): number {
    return this.#branches.bytes();
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
    const known = this.#heads.all.map((head) => {
      const { kept, followed } = this.#trace(head, { request, style: "managed" });
      return kept.length + followed.steps.length;
    });
    return Math.max(0, ...known);
  }

  render(asked: RenderAsked): Rendered {
    const { request, purpose } = asked;
    const draft = this.#numbers.draft(this.#turn + 1);
    const gauge = new TokenGauge(request.model, asked.saying.rate);
    this.#rate = asked.saying.rate;
    const rulesFor = (head: Head): GivenRules => this.#rulesFor(head, asked);
    const headPlace = { own: this.#ownHeads[asked.saying.commands], current: this.#current, rulesFor };
    const head = this.#heads.headFor(asked, headPlace, { draft, gauge });
    const trace = this.#trace(head, asked);
    const isRepeated = isKnown(trace) && purpose === "turn";
    const leaf = isRepeated ? leafBelow(trace.followed.place, trace.rules) : null;
    const { place } = trace.followed;
    const heard = repeatedItems(trace);
    const numbering = { numbers: this.#numbers, draft, end: place, gauge };
    const answered = withResults(freshItems(trace), openCalls(place), asked.resultOf);
    const numbered = numberItems(withAnswers(answered, this.#answers(head, place, asked)), numbering);
    const fresh = leaf === null ? numbered : null;
    const items = [...heard, ...numbered];
    const rewritten = this.#rewritten(asked, { head, trace, heard, fresh, items });
    if (leaf !== null && rewritten === null) return this.#sendAgain(asked, { head, trace, leaf });
    const behind = { end: heard[0]?.place?.parent ?? place, rewritten, gauge };
    const shown = this.#arrivals.shown(numbered, behind, asked);
    // What is bound to the old words is left out, and what stood behind it in its message begins the message.
    const isSaid = rewritten?.means === "own";
    const isCut = isSaid && modelTraits(request.model).isBound;
    const own = this.#own(asked, { head, place, heard, fresh: shown, rewritten, isCut });
    const said = [...(rewritten?.items ?? []), ...behindCut(heard, rewritten), ...own.items];
    // Where there is no room, old reasoning goes even if it could stay; not that of the work under way.
    const isTight = isSaid && rewritten.reason === "pressure";
    const left = isCut ? withoutReasoning(said) : isTight ? withoutReasoning(said, lastAnswer(said)) : said;
    const sent = left.map((item) => withheldItem(item, this.#withheld));
    const from = rewritten?.cut ?? heard[0]?.place?.parent ?? place;
    const plan: Plan = { asked, head, trace, from, items: sent, dropped: own.dropped };
    if (purpose !== "turn") draft.discard();
    else draft.keep();
    if (purpose === "turn") this.#arrivals.sent();
    return purpose === "turn" ? this.#send(plan, rewritten) : spell(plan);
  }

  /** What is new with what is ours among it. */
  #own({ request, purpose, style, mayClear, saying }: RenderAsked, at: OwnPlace): WithOwn {
    const { head, place, heard, fresh, rewritten } = at;
    const [turn, nonce] = [this.#turn + 1, this.nonce];
    const last = heard[0]?.place?.parent ?? place;
    const before = [...unannounced(last), ...numberedIn(heard)];
    const end = rewritten?.cut ?? last;
    const memories = unsaidMemories(
      saying.memories,
      { end, items: [...(rewritten?.items ?? []), ...heard] },
      nonce,
    );
    const header = { saying, nonce, turn, lastMs: this.#turnMs, before, memories };
    const isStart = rewritten !== null || this.#turn === 0;
    const blocks = [...(head.isTold ? [] : sizedHead(head)), ...sizedItems(fresh)];
    const sent = {
      isNext: last === this.#lastLeaf && rewritten === null,
      path: () => this.#pathBefore(at, last),
      reshown: () => reshownBy(rewritten, { leavesReasoning: at.isCut, withheld: this.#withheld }),
    };
    return withOwn({
      items: fresh,
      last: place,
      instructions: this.#lateInstructions,
      heads: (items) => withHeaders(header, items),
      tail: (carrier) => saying.tail({ carrier, turn, isEpochStart: isStart, fresh: blocks, ...sent }),
      traits: modelTraits(request.model),
      mayClear,
      needsJoin: head.instructions === null && !place.hasOwn,
      purpose: style === "plain" ? "aside" : purpose,
    });
  }

  /** What is sent before anything new. */
  #pathBefore({ head, heard, rewritten, isCut }: OwnPlace, last: Place): readonly SizedBlock[] {
    const items = [...(rewritten?.items ?? []), ...heard];
    const left = isCut ? items.filter(({ facts }) => facts.kind !== "reasoning") : items;
    return sizedPath(head, rewritten?.cut ?? last, left);
  }

  /** What follows an answer that called our tools alone: the answer as it was given, and their results. */
  goOn(asked: RenderAsked, { path: { head, places }, end }: Answered): Rendered | null {
    const { request } = asked;
    const draft = this.#numbers.draft(this.#turn + 1);
    const gauge = new TokenGauge(request.model, asked.saying.rate);
    const none = { reasoningKeys: new Set<string>(), isRecent: () => false };
    const rules = { ...this.#rulesFor(head, asked), ...none };
    const trace = traceAt({ request, places, end, rules });
    const heard = repeatedItems(trace);
    const results = answeredCalls(openCalls(end), asked.resultOf);
    const answers = this.#answers(head, end, asked);
    const told = answers === null ? results : [...results, answersMessage(answers)];
    const numbered = numberItems(told, { numbers: this.#numbers, draft, end, gauge });
    const from = heard[0]?.place?.parent ?? end;
    const items = [...heard, ...numbered];
    if (hasCleared(from, items) && editBehind(from, items) === null) return null;
    draft.keep();
    return this.#send({ asked, head, trace, from, items, dropped: null }, null);
  }

  /** What the command lines of an answer came to. */
  #answers({ hasTextCommands }: Head, end: Place, { resultOf }: RenderAsked): string | null {
    return hasTextCommands ? lineAnswers(end, this.nonce, resultOf) : null;
  }

  /** Puts a turn back that an earlier process sent; null where its body and its path do not fit together. */
  recall(recalled: RecalledTurn): Place | null {
    const path = pathIn(recalled);
    if (path === null) return null;
    const id = headIdOf(path);
    const known = this.#heads.find(id);
    const head = known ?? recallHead(path, recalled.request);
    if (known === null) this.#heads.keep(head);
    const leaf = recallPath(path, head, { ...recalled, offered: offeredBy(head, this.nonce) });
    leaf.isLeaf = true;
    leaf.dropped = path.dropped;
    this.#branches.hold(leaf, this.#heads.all);
    this.#lastLeaf = leaf;
    this.#turn = Math.max(this.#turn, recalled.turn);
    return leaf;
  }

  /** The log has told what the blocks are called that were sent before. */
  renumber(): void {
    if (this.#lastLeaf !== null) renumber(this.#lastLeaf, this.#numbers);
  }

  /** The answer to what ended at a leaf: a place for each unit of it. */
  heard(leaf: Place, units: readonly AnswerUnit[]): readonly Place[] {
    const gauge = new TokenGauge(leaf.model, this.#rate);
    const offered = offeredBy(this.#heads.below(rootOf(leaf)), this.nonce);
    return hear(leaf, units, { draft: this.#numbers.draft(this.#turn), gauge, offered });
  }

  /** What came before we sent anything was made behind exactly what the client sends, if nothing is added. */
  #trusts({ instructions }: Head): boolean {
    return this.#isNew && instructions === null;
  }

  #rulesFor(head: Head, { request, style }: Pick<RenderAsked, "request" | "style">): GivenRules {
    const { isBound, hasMidSystem } = modelTraits(request.model);
    return {
      bytes: request.bytes,
      throughOwn: style === "managed",
      throughOther: (place) => style === "managed" || isPlain(place, this.#withheld, this.nonce),
      throughSystem: hasMidSystem,
      leavesOut: isBound && !this.#trusts(head),
      trusts: this.#trusts(head),
      isOwnLine: this.isOwnLine,
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

  /** What the user withheld goes at once, the rest with a turn. A request that is sent again is no turn. */
  #rewritten(
    { request, purpose, style, choose, mayEdit }: RenderAsked,
    { head, trace, heard, fresh, items }: Begun,
  ): Rewritten | null {
    const asked = purpose === "turn" ? this.#rewrite : null;
    if (asked !== null) this.#rewrite = null;
    const { place } = trace.followed;
    const choosing = (items: readonly Item[]): Choosing => ({
      last: heard[0]?.place?.parent ?? place,
      path: () => pathTo(place).filter(({ sent }) => sent !== null),
      head: () => headTokens(head),
      anchor: this.#anchor,
      fresh: items,
      heard,
    });
    const isFree = purpose === "turn" && style === "managed" && fresh !== null;
    const chosen = isFree ? choose(choosing(fresh)) : null;
    const otherwise = this.#current?.request.model === request.model ? "fork" : "model";
    const why = { withheld: this.#withheld, asked, chosen, nonce: this.nonce };
    return rewrittenFor(place, { ...why, items, mayEdit, otherwise });
  }

  #send(plan: Plan, rewritten: Rewritten | null): Rendered {
    const { asked, head, trace, from, items } = plan;
    // What was heard takes the client's form as soon as it is written.
    const copies = otherForms(trace);
    const written = writeItems(from, items, asked.request.model);
    const leaf = written.places.at(-1) ?? from;
    noteAnnounced(items, written.places);
    leaf.isLeaf = true;
    leaf.dropped = plan.dropped;
    this.#turn += 1;
    this.#isNew = false;
    this.#lastLeaf = leaf;
    this.#turnMs = asked.saying.timeMs;
    this.#branches.hold(leaf, this.#heads.all);
    const places = placesAfter(trace, items, written.places);
    this.#current = { request: asked.request, head, style: asked.style, places };
    const indexes = clientIndexes(trace, items);
    const units = written.units.map((unit, at) => ({ ...unit, unit: indexes[at] ?? null }));
    const epoch = rewritten === null ? null : epochOf(rewritten);
    const freed = rewritten?.freed ?? 0;
    const rendered = { ...this.#sent(plan, { leaf, places, fresh: units, epoch, copies }), freed };
    // The request that rewrites still needs the mark in front of its cut.
    const isAnchored = this.#anchor?.sent?.image === sentOf(leaf).image;
    if (rewritten !== null || !isAnchored) this.#anchor = places.at(-1) ?? null;
    return rendered;
  }

  /** The same request once more: the same bytes once more. */
  #sendAgain(asked: RenderAsked, { head, trace, leaf }: Again): Rendered {
    const places = placesAfter(trace, [], []);
    this.#current = { request: asked.request, head, style: asked.style, places };
    const { dropped } = leaf;
    const plan: Plan = { asked, head, trace, from: leaf, items: [], dropped };
    return this.#sent(plan, { leaf, places, fresh: [], epoch: null, copies: otherForms(trace) });
  }

  #sent(plan: Plan, { leaf, places, fresh, epoch, copies }: Sent): Rendered {
    const { asked, head, dropped } = plan;
    const { id, image, end } = sentOf(leaf);
    const client = marksOf(asked, places.length, (at) => places[at]?.sent?.end ?? null);
    const marks = withAnchor(client, { asked, image, anchor: this.#anchor });
    const messages = [...emitMarked(image.slice(0, end), marks), closing(dropped, leaf.wrapping.tail)];
    const isWhole = asked.reportsAll || !head.isTold;
    const said = asked.reportsAll ? pathUnits(leaf, unitIndexes(asked.request, places)) : fresh;
    for (const { key, numbered } of copies) this.#numbers.learn(key, numbered);
    const units = isWhole ? [...head.units, ...said] : said;
    const report = { leaf: id, fresh: units, copies, isTurn: true, epoch };
    head.isTold = true;
    const hasHeader = plan.items.some(({ isHeader }) => isHeader);
    const edit = editBehind(leaf, []);
    return {
      ...emitRequest({ asked, head, edit }, messages),
      usesClearing: leaf.hasClearing,
      cleared: edit?.cleared ?? null,
      report,
      leaf,
      path: { head, places },
      hasHeader,
      freed: 0,
    };
  }
}

/** What a ledger is made for. New: nothing of ours was ever sent. */
export type LedgerAsked = {
  readonly nonce: string;
  readonly isNew: boolean;
  readonly numbers: StreamNumbers;
};
function numberedIn(items: readonly Pick<Item, "numbered">[]): readonly Numbered[] {
  return items.flatMap(({ numbered }) => (numbered === null ? [] : [numbered]));
}
