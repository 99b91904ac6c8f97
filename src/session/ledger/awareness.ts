import {
  changeNote,
  type HeaderMode,
  type ManifestFacts,
  type ManifestOptions,
  type ManifestVariant,
  offerLine,
  type WrittenManifest,
  writeManifest,
  type ZoneFacts,
} from "../../render/index.ts";
import type { Briefing, Numbered, SentReport } from "../desk-port.ts";
import { type Line, withholdIn } from "./line.ts";
import { pressureReason } from "./pruning.ts";
import { carriedOver } from "./reshown.ts";
import type { BlockSum, CommandForm, Count, Saying, SizedBlock, TailAsked } from "./saying.ts";
import type { Withheld } from "./withheld.ts";

/** How the model is told of its context. A change holds for what is sent from then on. */
export type Awareness = {
  readonly headers: HeaderMode;
  readonly manifest: "on" | "off";
  readonly variant: ManifestVariant;
  /** Whether it is said how full the window is. */
  readonly fill: ManifestOptions["fill"];
  /** How it commands; a session that has begun goes on as it is. */
  readonly commands: CommandForm;
  /** How far the user's clock is ahead of UTC. */
  readonly zoneMinutes: number;
};

export const usualAwareness: Awareness = {
  headers: "compact",
  manifest: "on",
  variant: "text",
  fill: "shown",
  commands: "tools",
  zoneMinutes: 0,
};

/** Blocks kept until the log has told of them: of a log that says nothing, nothing more is expected. */
const recentMax = 2_000;
const againMax = 256;

export function noteRecent(line: Line, blocks: readonly (Numbered | null)[]): void {
  // What comes again came with the turn before.
  const known = new Set(line.recent.slice(-againMax).map(({ block }) => block));
  const told = line.briefing?.turn ?? 0;
  // An answer that the client repeats was sent again, but it is not new.
  const isNew = ({ block, turn }: Numbered): boolean => turn > told && !known.has(block);
  const fresh = blocks.filter((one): one is Numbered => one !== null && isNew(one));
  if (fresh.length === 0) return;
  line.recent = [...line.recent, ...fresh].slice(-recentMax);
  line.recentSum = line.recent.length < recentMax ? plus(line.recentSum, fresh) : plus(nothing, line.recent);
}

/** Blocks were sent; what has no number here gets one from the log. */
export function noteFresh(line: Line, fresh: SentReport["fresh"]): void {
  line.isUnnumbered ||= fresh.some(({ unit, numbered }) => unit !== null && numbered === null);
  noteRecent(
    line,
    fresh.map(({ numbered }) => numbered),
  );
}

/** A rewrite was sent: what the log told of before it is larger than what there is now. */
export function noteFreed(line: Line, turn: number, tokens: number): void {
  if (tokens > 0) line.freed = { turn, tokens: line.freed.tokens + tokens };
}

/** The log's word, without what has been freed or told since. */
function toldFacts({ briefing, freed, toldSeq }: Line): ManifestFacts | null {
  if (briefing === null) return null;
  const facts = briefing.seq > toldSeq ? briefing.facts : { ...briefing.facts, changes: [] };
  if (freed.tokens === 0) return facts;
  const used = Math.max(0, facts.used - freed.tokens);
  return { ...facts, used, free: facts.free === null ? null : facts.free + facts.used - used };
}

export function takeBriefing(line: Line, briefing: Briefing, prints: Prints = unprinted): void {
  // Whoever sets a mode wants it to hold.
  if ((briefing.mode ?? null) !== (line.briefing?.mode ?? null)) line.isStoodDown = false;
  line.briefing = briefing;
  if (briefing.turn >= line.freed.turn) line.freed = { turn: 0, tokens: 0 };
  line.recent = line.recent.filter(({ turn }) => turn > briefing.turn);
  line.recentSum = plus(nothing, line.recent);
  line.held = new Set(briefing.held);
  line.memories = briefing.memories ?? [];
  for (const wanted of briefing.wanted) line.wanted.set(wanted.block, wanted);
  line.hasNews ||= briefing.wanted.length > 0;
  line.isUrged ||= briefing.isUrged === true;
  if (briefing.withheld !== undefined) withholdIn(line, prints.printed(briefing.withheld));
  line.ledger.catchUp(briefing.turn);
}

/** What is withheld, with all it is found by. */
export type Prints = { readonly printed: (keys: Iterable<string>) => Withheld };

const unprinted: Prints = { printed: (keys) => new Map([...keys].map((key) => [key, null])) };

/** What the next prompt will hold before anything new; null where neither the log nor we know all of it. */
export function usedBefore(line: Line): number | null {
  const facts = toldFacts(line);
  if (facts === null && (!line.countsAll || line.recent.length >= recentMax)) return null;
  const { front, rest } = line.recentSum;
  return (facts?.used ?? 0) + front.tokens + rest.tokens;
}

type SayingAsked = {
  readonly timeMs: number;
  readonly awareness: Awareness;
  readonly window: number | null;
  /** What the model charges for reading from its cache. */
  readonly read: number;
};

export function sayingFor(line: Line, { timeMs, awareness, window, read }: SayingAsked): Saying {
  const { headers, commands, zoneMinutes } = awareness;
  const tail = (asked: TailAsked): string | null =>
    awareness.manifest === "off"
      ? null
      : tailFor(line, {
          ...asked,
          awareness,
          window,
          read,
          countsAll: line.countsAll && line.numbers.isReady,
        });
  const { seq = 0, rate = 1, names: next = [] } = line.briefing ?? {};
  const names = seq > line.namedSeq ? next : [];
  return { headers, commands, timeMs, zoneMinutes, rate, names, memories: line.memories, tail };
}

type Telling = TailAsked &
  Pick<SayingAsked, "awareness" | "window" | "read"> & {
    /** Whether everything that was ever sent was noted here. */
    readonly countsAll: boolean;
  };

/** The log's word and what was sent since, where the request goes on with it; else what will be sent. */
function factsFor(line: Line, asked: Telling): ManifestFacts {
  const { recent, recentSum } = line;
  const facts = toldFacts(line);
  const hasAll = asked.isNext && asked.countsAll && recent.length < recentMax;
  if (facts === null) {
    return hasAll ? withSum(nothingKnown(asked.window), plus(recentSum, asked.fresh)) : pathFacts(asked);
  }
  if (asked.isNext) return withSum(facts, plus(recentSum, asked.fresh));
  const path = pathFacts(asked);
  const shown = [...asked.path(), ...asked.fresh];
  const sent = new Set(shown.map(({ block }) => block));
  const selected = facts.recency.selected.filter(({ block }) => sent.has(block));
  const reasonOf = (block: number): string => line.wanted.get(block)?.reason || pressureReason;
  const kept = carriedOver(facts, { shown, reshown: asked.reshown(), reasonOf });
  const { changes, needed } = facts;
  return { ...path, changes, needed, ...kept, recency: { ...path.recency, selected } };
}

/** Of a path that the log has not told of: what was said before the user spoke last is the middle. */
function pathFacts({ path, fresh, window }: Telling): ManifestFacts {
  const blocks = path();
  const run = fresh.some(({ kind }) => kind === "user")
    ? blocks.length
    : Math.max(
        0,
        blocks.findLastIndex(({ kind }) => kind === "user"),
      );
  const [front, middle] = split(blocks.slice(0, run));
  const facts = withBlocks(nothingKnown(window), [...front, ...blocks.slice(run), ...fresh]);
  const tokens = tokensIn(middle);
  return {
    ...facts,
    blocks: facts.blocks + middle.length,
    used: facts.used + tokens,
    middle: { ...facts.middle, ...added(facts.middle, middle) },
    free: facts.free === null ? null : Math.max(0, facts.free - tokens),
  };
}

function split(blocks: readonly SizedBlock[]): readonly [readonly SizedBlock[], readonly SizedBlock[]] {
  const isFront = ({ kind }: SizedBlock): boolean => kind === "system";
  return [blocks.filter(isFront), blocks.filter((block) => !isFront(block))];
}

function tailFor(line: Line, asked: Telling): string | null {
  const hint = offerLine(line.nonce, line.briefing?.offers ?? []);
  const lines = [toldOf(line, asked), hint].filter((text) => text !== null);
  return lines.length === 0 ? null : lines.join("\n");
}

/** What stays is said in full once, and then only where something is new. */
function toldOf(line: Line, asked: Telling): string | null {
  const { carrier, turn, isEpochStart, awareness, read } = asked;
  const facts = factsFor(line, asked);
  const { variant, fill } = awareness;
  const isPermanent = carrier === "kept";
  const detail = isPermanent || (isEpochStart && turn > 1) ? "detailed" : "summary";
  const options = { nonce: line.nonce, turn, variant, detail, fill, read, spent: line.spent } as const;
  if (!isPermanent || isEpochStart) return told(line, writeManifest(facts, options), detail);
  const near = facts.expiring.filter(({ at }) => at - turn <= noteAheadTurns);
  const expiring = near.filter(({ block }) => !line.noted.has(block));
  // What is no longer near has expired, or was given more time and may be noted again.
  line.noted = new Set(near.map(({ block }) => block));
  return changeNote({ ...facts, expiring }, options);
}

function told(line: Line, { text, tokens }: WrittenManifest, detail: ManifestOptions["detail"]): string {
  const { spent } = line;
  if (detail === "summary") line.spent = { turns: spent.turns + 1, tokens: spent.tokens + tokens };
  return text;
}

/** An expiry is noted once, so many turns ahead. */
const noteAheadTurns = 3;

const none = { blocks: 0, tokens: 0 } as const;
const noKinds = { user: 0, assistant: 0, tool: 0 } as const;
const noZone: ZoneFacts = { blocks: 0, tokens: 0, exact: false };

/** Before the log has said anything. */
function nothingKnown(window: number | null): ManifestFacts {
  return {
    blocks: 0,
    used: 0,
    window,
    exact: false,
    primacy: { ...noZone, named: [] },
    middle: { ...noZone, ...noKinds, trimmed: 0, summarized: 0, minimal: 0, pending: none, names: [] },
    recency: { ...noZone, task: null, selected: [] },
    cold: { ...noZone, names: [] },
    expiring: [],
    candidates: [],
    changes: [],
    free: window,
    turnsLeft: null,
    expandable: 0,
    ranges: [],
    needed: [],
  };
}

/** The log's word, and what has been sent since: that is in the run that goes on. */
export function withBlocks(facts: ManifestFacts, blocks: readonly SizedBlock[]): ManifestFacts {
  return withSum(facts, plus(nothing, blocks));
}

function withSum(facts: ManifestFacts, { front, rest }: BlockSum): ManifestFacts {
  const tokens = front.tokens + rest.tokens;
  const blocks = front.blocks + rest.blocks;
  return {
    ...facts,
    blocks: facts.blocks + blocks,
    used: facts.used + tokens,
    exact: facts.exact && blocks === 0,
    primacy: { ...facts.primacy, ...grown(facts.primacy, front) },
    recency: { ...facts.recency, ...grown(facts.recency, rest) },
    free: facts.free === null ? null : Math.max(0, facts.free - tokens),
  };
}

const nothing: BlockSum = { front: { blocks: 0, tokens: 0 }, rest: { blocks: 0, tokens: 0 } };

function plus(sum: BlockSum, blocks: readonly SizedBlock[]): BlockSum {
  const [front, rest] = split(blocks);
  return { front: counted(sum.front, front), rest: counted(sum.rest, rest) };
}

function counted({ blocks, tokens }: Count, more: readonly SizedBlock[]): Count {
  return { blocks: blocks + more.length, tokens: tokens + tokensIn(more) };
}

function grown({ blocks, tokens, exact }: ZoneFacts, more: Count): ZoneFacts {
  return { blocks: blocks + more.blocks, tokens: tokens + more.tokens, exact: exact && more.blocks === 0 };
}

function added(zone: ZoneFacts, more: readonly SizedBlock[]): ZoneFacts {
  return grown(zone, { blocks: more.length, tokens: tokensIn(more) });
}

function tokensIn(blocks: readonly SizedBlock[]): number {
  return blocks.reduce((sum, { tokens }) => sum + tokens, 0);
}
