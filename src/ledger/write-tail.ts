import type { ManifestFacts, ZoneFacts } from "../awareness/index.ts";
import type { Wishes } from "../exchange/index.ts";
import {
  changeNote,
  type ManifestOptions,
  offerLine,
  type WrittenManifest,
  writeManifest,
} from "../notes/index.ts";
import type { Awareness } from "./awareness-settings.ts";
import type { LevelWishes } from "./level-wishes.ts";
import {
  type BlockCount,
  type BlockSum,
  carryFactsOver,
  type PathBefore,
  type ReshowInput,
  reshownBlocks,
  type SizedBlock,
  sizedPath,
} from "./path-blocks.ts";
import {
  addBlocks,
  blockTokens,
  hasAllBlocks,
  noBlocks,
  splitFront,
  type UnloggedBlocks,
} from "./unlogged-blocks.ts";

/**
 * How the tail reaches the model. Clearing: a system message that is shown for one turn and stays in the
 * transcript. Dropped: a last text that is left out of the next request. Kept: a text that stays, so it is
 * sent only when it says something new.
 */
export type Carrier = "clearing" | "dropped" | "kept" | "none";

/** The next tail is written from this state of the tails before it. */
export type TailState = {
  /** How many manifest summaries were sent, and about what they cost. */
  readonly spent: { readonly turns: number; readonly tokens: number };
  /** Blocks whose expiry is near and was noted. */
  readonly notedExpiries: ReadonlySet<number>;
};

export const firstTail: TailState = { spent: { turns: 0, tokens: 0 }, notedExpiries: new Set() };

/** Everything that the tail of one request may say. */
export type TailInput = {
  readonly nonce: string;
  readonly awareness: Awareness;
  readonly window: number | null;
  /** The model's price for reading from its cache. */
  readonly readPrice: number;
  /** The log's wishes with its facts and offers. Null if it has not reported the stream. */
  readonly latest: Wishes | null;
  readonly levels: LevelWishes;
  readonly unlogged: UnloggedBlocks;
  /** Whether blocks get numbers, so that all of them were counted. */
  readonly isNumbered: boolean;
  /** The seq of the last wishes whose changes the model has read: it reads them once. */
  readonly changesSeq: number;
  readonly state: TailState;
  readonly turn: number;
  /** Whether the tail must repeat what earlier tails said. */
  readonly isEpochStart: boolean;
  /** Whether the request continues the last one that was sent. */
  readonly isNext: boolean;
  /** The new blocks of this request. */
  readonly freshBlocks: readonly SizedBlock[];
  /** Everything before them. It is counted if the log has not, or if the request continues another one. */
  readonly before: PathBefore;
  /** The rewrite, which shows some blocks otherwise from this request on. */
  readonly reshow: ReshowInput;
};

export type WrittenTail = { readonly text: string | null; readonly state: TailState };

/** Writes the changing tail for a carrier. The text is null if there is nothing to say. */
export function writeTail(input: TailInput, carrier: Carrier): WrittenTail {
  const { nonce, awareness, latest, state } = input;
  if (awareness.manifest === "off") return { text: null, state };
  const manifest = writeManifestFor(input, carrier);
  const lines = [manifest.text, offerLine(nonce, latest?.offers ?? [])].filter((text) => text !== null);
  return { text: lines.length === 0 ? null : lines.join("\n"), state: manifest.state };
}

/** A permanent carrier gets the whole manifest once per epoch, and after that only notes about changes. */
function writeManifestFor(input: TailInput, carrier: Carrier): WrittenTail {
  const { nonce, turn, isEpochStart, awareness, readPrice, state } = input;
  const facts = factsFor(input);
  const { variant, fill } = awareness;
  const isPermanent = carrier === "kept";
  const detail = isPermanent || (isEpochStart && turn > 1) ? "detailed" : "summary";
  const { spent, notedExpiries } = state;
  const options = { nonce, turn, variant, detail, fill, read: readPrice, spent } as const;
  if (!isPermanent || isEpochStart) return countManifest(writeManifest(facts, options), state, detail);
  const near = facts.expiring.filter(({ at }) => at - turn <= noteAheadTurns);
  const expiring = near.filter(({ block }) => !notedExpiries.has(block));
  // A block that is no longer near expiry has expired, or was given more time and may be noted again.
  const noted = new Set(near.map(({ block }) => block));
  return { text: changeNote({ ...facts, expiring }, options), state: { ...state, notedExpiries: noted } };
}

/** An expiry is noted once, this many turns ahead. */
const noteAheadTurns = 3;

/** Adds a summary to the cost of manifests so far, which the manifest itself reports. */
function countManifest(
  { text, tokens }: WrittenManifest,
  state: TailState,
  detail: ManifestOptions["detail"],
): WrittenTail {
  const { spent } = state;
  if (detail !== "summary") return { text, state };
  return { text, state: { ...state, spent: { turns: spent.turns + 1, tokens: spent.tokens + tokens } } };
}

/** The facts of the log, without tokens freed since then and without changes the model has read. */
function loggedFacts({ latest, unlogged: { freed }, changesSeq }: TailInput): ManifestFacts | null {
  if (latest === null) return null;
  const facts = latest.seq > changesSeq ? latest.facts : { ...latest.facts, changes: [] };
  if (freed.tokens === 0) return facts;
  const used = Math.max(0, facts.used - freed.tokens);
  return { ...facts, used, free: facts.free === null ? null : facts.free + facts.used - used };
}

/** The log's facts plus the blocks sent since, if the request continues the last one; else its own path. */
function factsFor(input: TailInput): ManifestFacts {
  const { unlogged, isNext, isNumbered, freshBlocks, window, levels } = input;
  const facts = loggedFacts(input);
  const sums = addBlocks(unlogged.totals, freshBlocks);
  if (facts === null) {
    const hasAll = isNext && unlogged.isComplete && isNumbered && hasAllBlocks(unlogged);
    return hasAll ? addTotals(emptyFacts(window), sums) : pathFacts(input, sizedPath(input.before));
  }
  if (isNext) return addTotals(facts, sums);
  const blocks = sizedPath(input.before);
  const path = pathFacts(input, blocks);
  const shown = [...blocks, ...freshBlocks];
  const sent = new Set(shown.map(({ block }) => block));
  const selected = facts.recency.selected.filter(({ block }) => sent.has(block));
  const kept = carryFactsOver(facts, { shown, reshown: reshownBlocks(input.reshow), levels });
  const { changes, needed } = facts;
  return { ...path, changes, needed, ...kept, recency: { ...path.recency, selected } };
}

/** Facts about a path that the log has not reported. Blocks before the user's last message are its middle. */
function pathFacts({ freshBlocks: fresh, window }: TailInput, blocks: readonly SizedBlock[]): ManifestFacts {
  const run = fresh.some(({ kind }) => kind === "user")
    ? blocks.length
    : Math.max(
        0,
        blocks.findLastIndex(({ kind }) => kind === "user"),
      );
  const [front, middle] = splitFront(blocks.slice(0, run));
  const facts = addTotals(
    emptyFacts(window),
    addBlocks(noBlocks, [...front, ...blocks.slice(run), ...fresh]),
  );
  const tokens = blockTokens(middle);
  return {
    ...facts,
    blocks: facts.blocks + middle.length,
    used: facts.used + tokens,
    middle: { ...facts.middle, ...addToZone(facts.middle, middle) },
    free: facts.free === null ? null : Math.max(0, facts.free - tokens),
  };
}

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

function growZone({ blocks, tokens, exact }: ZoneFacts, more: BlockCount): ZoneFacts {
  return { blocks: blocks + more.blocks, tokens: tokens + more.tokens, exact: exact && more.blocks === 0 };
}

function addToZone(zone: ZoneFacts, more: readonly SizedBlock[]): ZoneFacts {
  return growZone(zone, { blocks: more.length, tokens: blockTokens(more) });
}
