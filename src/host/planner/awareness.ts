import type { ManifestFacts, ZoneFacts } from "../../awareness/index.ts";
import type { NumberedBlock, PlannedRequest, SentRequest, Wishes } from "../../exchange/index.ts";
import {
  type BlockCount,
  type BlockSum,
  type CommandForm,
  carryFactsOver,
  type NoteContext,
  type SizedBlock,
  type TailInput,
  type WithheldContent,
} from "../../ledger/index.ts";
import {
  changeNote,
  type HeaderMode,
  type ManifestOptions,
  type ManifestVariant,
  offerLine,
  type WrittenManifest,
  writeManifest,
} from "../../notes/index.ts";
import { pressureReason } from "../../policy/index.ts";
import { type LiveStream, setWithheld } from "./live-stream.ts";

/** How our notes describe the context to the model. A change applies to requests from then on. */
export type Awareness = {
  readonly headers: HeaderMode;
  readonly manifest: "on" | "off";
  readonly variant: ManifestVariant;
  /** Whether the manifest says how full the window is. */
  readonly fill: ManifestOptions["fill"];
  /** How the model writes commands. A session that has begun keeps its form. */
  readonly commands: CommandForm;
  /** How far the user's clock is ahead of UTC. */
  readonly zoneMinutes: number;
};

export const defaultAwareness: Awareness = {
  headers: "compact",
  manifest: "on",
  variant: "text",
  fill: "shown",
  commands: "tools",
  zoneMinutes: 0,
};

/** Recent blocks are kept until the log reports them; a log that is this far behind will not catch up. */
const recentMax = 2_000;
const repeatedMax = 256;

/** Adds blocks that were sent or answered to those that the log has not reported yet. */
export function noteNewBlocks(stream: LiveStream, blocks: readonly (NumberedBlock | null)[]): void {
  // A block that is sent again was last sent with the turn before.
  const known = new Set(stream.recentBlocks.slice(-repeatedMax).map(({ block }) => block));
  const loggedTurn = stream.wishes?.turn ?? 0;
  // The client repeats every answer; that does not make it new.
  const isNew = ({ block, turn }: NumberedBlock): boolean => turn > loggedTurn && !known.has(block);
  const fresh = blocks.filter((one): one is NumberedBlock => one !== null && isNew(one));
  if (fresh.length === 0) return;
  stream.recentBlocks = [...stream.recentBlocks, ...fresh].slice(-recentMax);
  stream.recentTotals =
    stream.recentBlocks.length < recentMax
      ? addBlocks(stream.recentTotals, fresh)
      : addBlocks(noBlocks, stream.recentBlocks);
}

/** Notes the units sent for the first time; those without a number get one from the log. */
export function noteSentUnits(stream: LiveStream, fresh: SentRequest["fresh"]): void {
  stream.isUnnumbered ||= fresh.some(({ clientIndex: unit, numbered }) => unit !== null && numbered === null);
  noteNewBlocks(
    stream,
    fresh.map(({ numbered }) => numbered),
  );
}

/** A rewrite was sent: until the log reports that turn, its facts count these tokens too many. */
export function noteFreed(stream: LiveStream, turn: number, tokens: number): void {
  if (tokens > 0) stream.freed = { turn, tokens: stream.freed.tokens + tokens };
}

/** The facts of the log, without tokens freed since then and without changes the model has read. */
function loggedFacts({ wishes, freed, changesSeq }: LiveStream): ManifestFacts | null {
  if (wishes === null) return null;
  const facts = wishes.seq > changesSeq ? wishes.facts : { ...wishes.facts, changes: [] };
  if (freed.tokens === 0) return facts;
  const used = Math.max(0, facts.used - freed.tokens);
  return { ...facts, used, free: facts.free === null ? null : facts.free + facts.used - used };
}

/** Replaces what the log wants of the next request, and drops recent blocks that it reports now. */
export function applyWishes(
  stream: LiveStream,
  wishes: Wishes,
  fingerprints: FingerprintLookup = withoutFingerprints,
): void {
  // A user who sets a mode wants it to apply, even after a refusal.
  if ((wishes.mode ?? null) !== (stream.wishes?.mode ?? null)) stream.isPassThrough = false;
  stream.wishes = wishes;
  if (wishes.turn >= stream.freed.turn) stream.freed = { turn: 0, tokens: 0 };
  stream.recentBlocks = stream.recentBlocks.filter(({ turn }) => turn > wishes.turn);
  stream.recentTotals = addBlocks(noBlocks, stream.recentBlocks);
  stream.held = new Set(wishes.held);
  stream.memories = wishes.memories ?? [];
  for (const wish of wishes.levels) stream.levelWishes.set(wish.block, wish);
  stream.hasNewWishes ||= wishes.levels.length > 0;
  stream.isUrgent ||= wishes.isUrgent === true;
  if (wishes.withheld !== undefined) setWithheld(stream, fingerprints.withFingerprints(wishes.withheld));
  stream.ledger.advanceTurn(wishes.turn);
}

/** Adds to the keys of withheld units the fingerprints that find their texts elsewhere. */
export type FingerprintLookup = { readonly withFingerprints: (keys: Iterable<string>) => WithheldContent };

const withoutFingerprints: FingerprintLookup = {
  withFingerprints: (keys) => new Map([...keys].map((key) => [key, null])),
};

/** Tokens of the next prompt without its new content; null if neither log nor planner knows all of it. */
export function usedTokens(stream: LiveStream): number | null {
  const facts = loggedFacts(stream);
  if (facts === null && (!stream.isFullyCounted || stream.recentBlocks.length >= recentMax)) return null;
  const { front, rest } = stream.recentTotals;
  return (facts?.used ?? 0) + front.tokens + rest.tokens;
}

type NoteContextInput = {
  readonly timeMs: number;
  readonly awareness: Awareness;
  readonly window: number | null;
  /** The model's price for reading from its cache. */
  readonly readPrice: number;
};

export function noteContextFor(
  stream: LiveStream,
  { timeMs, awareness, window, readPrice }: NoteContextInput,
): NoteContext {
  const { headers, commands, zoneMinutes } = awareness;
  const tail = (input: TailInput): string | null =>
    awareness.manifest === "off"
      ? null
      : tailText(stream, {
          ...input,
          awareness,
          window,
          readPrice,
          isFullyCounted: stream.isFullyCounted && stream.numbers.isReady,
        });
  const { seq = 0, tokenRate: rate = 1, headerNames: next = [] } = stream.wishes ?? {};
  const names = seq > stream.namesSeq ? next : [];
  return {
    headers,
    commands,
    timeMs,
    zoneMinutes,
    tokenRate: rate,
    names,
    memories: stream.memories,
    writeTail: tail,
  };
}

type ManifestInput = TailInput &
  Pick<NoteContextInput, "awareness" | "window" | "readPrice"> & {
    /** Every block that was ever sent in the stream was noted here. */
    readonly isFullyCounted: boolean;
  };

/** The log's facts plus the blocks sent since, if the request continues the last one; else its own path. */
function factsFor(stream: LiveStream, input: ManifestInput): ManifestFacts {
  const { recentBlocks, recentTotals } = stream;
  const facts = loggedFacts(stream);
  const hasAll = input.isNext && input.isFullyCounted && recentBlocks.length < recentMax;
  if (facts === null) {
    return hasAll
      ? addTotals(emptyFacts(input.window), addBlocks(recentTotals, input.freshBlocks))
      : pathFacts(input);
  }
  if (input.isNext) return addTotals(facts, addBlocks(recentTotals, input.freshBlocks));
  const path = pathFacts(input);
  const shown = [...input.pathBlocks(), ...input.freshBlocks];
  const sent = new Set(shown.map(({ block }) => block));
  const selected = facts.recency.selected.filter(({ block }) => sent.has(block));
  const reasonOf = (block: number): string => stream.levelWishes.get(block)?.reason || pressureReason;
  const kept = carryFactsOver(facts, { shown, reshown: input.reshownBlocks(), reasonFor: reasonOf });
  const { changes, needed } = facts;
  return { ...path, changes, needed, ...kept, recency: { ...path.recency, selected } };
}

/** Facts about a path that the log has not reported. Blocks before the user's last message are its middle. */
function pathFacts({ pathBlocks: path, freshBlocks: fresh, window }: ManifestInput): ManifestFacts {
  const blocks = path();
  const run = fresh.some(({ kind }) => kind === "user")
    ? blocks.length
    : Math.max(
        0,
        blocks.findLastIndex(({ kind }) => kind === "user"),
      );
  const [front, middle] = splitFront(blocks.slice(0, run));
  const facts = addSentBlocks(emptyFacts(window), [...front, ...blocks.slice(run), ...fresh]);
  const tokens = tokensIn(middle);
  return {
    ...facts,
    blocks: facts.blocks + middle.length,
    used: facts.used + tokens,
    middle: { ...facts.middle, ...addToZone(facts.middle, middle) },
    free: facts.free === null ? null : Math.max(0, facts.free - tokens),
  };
}

function splitFront(blocks: readonly SizedBlock[]): readonly [readonly SizedBlock[], readonly SizedBlock[]] {
  const isFront = ({ kind }: SizedBlock): boolean => kind === "system";
  return [blocks.filter(isFront), blocks.filter((block) => !isFront(block))];
}

function tailText(stream: LiveStream, input: ManifestInput): string | null {
  const hint = offerLine(stream.nonce, stream.wishes?.offers ?? []);
  const lines = [manifestText(stream, input), hint].filter((text) => text !== null);
  return lines.length === 0 ? null : lines.join("\n");
}

/** A permanent carrier gets the whole manifest once per epoch, and after that only notes about changes. */
function manifestText(stream: LiveStream, input: ManifestInput): string | null {
  const { carrier, turn, isEpochStart, awareness, readPrice } = input;
  const facts = factsFor(stream, input);
  const { variant, fill } = awareness;
  const isPermanent = carrier === "kept";
  const detail = isPermanent || (isEpochStart && turn > 1) ? "detailed" : "summary";
  const options = {
    nonce: stream.nonce,
    turn,
    variant,
    detail,
    fill,
    read: readPrice,
    spent: stream.manifestSpend,
  } as const;
  if (!isPermanent || isEpochStart) return countManifest(stream, writeManifest(facts, options), detail);
  const near = facts.expiring.filter(({ at }) => at - turn <= noteAheadTurns);
  const expiring = near.filter(({ block }) => !stream.notedExpiries.has(block));
  // A block that is no longer near expiry has expired, or was given more time and may be noted again.
  stream.notedExpiries = new Set(near.map(({ block }) => block));
  return changeNote({ ...facts, expiring }, options);
}

/** Adds a summary to the cost of manifests so far, which the manifest itself reports. */
function countManifest(
  stream: LiveStream,
  { text, tokens }: WrittenManifest,
  detail: ManifestOptions["detail"],
): string {
  const { manifestSpend: spent } = stream;
  if (detail === "summary") stream.manifestSpend = { turns: spent.turns + 1, tokens: spent.tokens + tokens };
  return text;
}

/** An expiry is noted once, this many turns ahead. */
const noteAheadTurns = 3;

const noCount = { blocks: 0, tokens: 0 } as const;
const noKinds = { user: 0, assistant: 0, tool: 0 } as const;
const noZone: ZoneFacts = { blocks: 0, tokens: 0, exact: false };

/** The facts before the log has reported anything. */
function emptyFacts(window: number | null): ManifestFacts {
  return {
    blocks: 0,
    used: 0,
    window,
    exact: false,
    primacy: { ...noZone, named: [] },
    middle: { ...noZone, ...noKinds, trimmed: 0, summarized: 0, minimal: 0, pending: noCount, names: [] },
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

/** Adds blocks sent since the log's facts; they belong to the current run. */
export function addSentBlocks(facts: ManifestFacts, blocks: readonly SizedBlock[]): ManifestFacts {
  return addTotals(facts, addBlocks(noBlocks, blocks));
}

function addTotals(facts: ManifestFacts, { front, rest }: BlockSum): ManifestFacts {
  const tokens = front.tokens + rest.tokens;
  const blocks = front.blocks + rest.blocks;
  return {
    ...facts,
    blocks: facts.blocks + blocks,
    used: facts.used + tokens,
    exact: facts.exact && blocks === 0,
    primacy: { ...facts.primacy, ...growZone(facts.primacy, front) },
    recency: { ...facts.recency, ...growZone(facts.recency, rest) },
    free: facts.free === null ? null : Math.max(0, facts.free - tokens),
  };
}

const noBlocks: BlockSum = { front: { blocks: 0, tokens: 0 }, rest: { blocks: 0, tokens: 0 } };

function addBlocks(sum: BlockSum, blocks: readonly SizedBlock[]): BlockSum {
  const [front, rest] = splitFront(blocks);
  return { front: addToCount(sum.front, front), rest: addToCount(sum.rest, rest) };
}

function addToCount({ blocks, tokens }: BlockCount, more: readonly SizedBlock[]): BlockCount {
  return { blocks: blocks + more.length, tokens: tokens + tokensIn(more) };
}

function growZone({ blocks, tokens, exact }: ZoneFacts, more: BlockCount): ZoneFacts {
  return { blocks: blocks + more.blocks, tokens: tokens + more.tokens, exact: exact && more.blocks === 0 };
}

function addToZone(zone: ZoneFacts, more: readonly SizedBlock[]): ZoneFacts {
  return growZone(zone, { blocks: more.length, tokens: tokensIn(more) });
}

function tokensIn(blocks: readonly SizedBlock[]): number {
  return blocks.reduce((sum, { tokens }) => sum + tokens, 0);
}

/**
 * The model has read these changes: they are not told again, even if the log reports its next wishes late.
 */
export function noteChangesRead(stream: LiveStream, { rendering, sent }: PlannedRequest): void {
  if (rendering === "managed") stream.changesSeq = Math.max(stream.changesSeq, sent?.wishesSeq ?? 0);
}
