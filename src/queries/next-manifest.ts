import {
  changesIn,
  type ManifestFacts,
  manifestFacts,
  type NeededName,
  type PrunedRange,
} from "../awareness/index.ts";
import { fail, limits, must, ok, type Result } from "../base/index.ts";
import { isSigned } from "../content/index.ts";
import type { AddedBlock } from "../engine/frames/index.ts";
import type { State, Stream, View } from "../engine/index.ts";
import { lastSentTurn, type Moment, now, streamOf, turnNow, viewBlocks } from "../engine/moment/index.ts";
import { modelIn, viewIn } from "../log/index.ts";
import { manifestText } from "../notes/index.ts";
import { lastUsage, windowRow } from "../recorder/index.ts";
import type { Store } from "../store/index.ts";
import { estimateText } from "../tokens/index.ts";
import type { ManifestAnswer, ManifestDetail, RangeRow } from "./answers/context-answers.ts";
import { chooseStream, streamModeOf } from "./choose-stream.ts";
import { maskNonce, shortNonce } from "./masked-nonce.ts";
import type { ManifestQuery, QueryDeps } from "./queries.ts";

/** The newest frames that are searched for changes; the planner is told of as many. */
const framesScannedMax = 200;

/** The manifest that the model of a stream would read with its next turn. */
export type NextManifest = {
  readonly moment: Moment;
  readonly stream: Stream;
  readonly view: View;
  readonly facts: ManifestFacts;
  /** The turn that will read it: the next one. */
  readonly turn: number;
};

/** Null if there is no stream yet. */
export async function nextManifest(
  deps: Pick<QueryDeps, "store" | "windowOf">,
  state: State,
  requested: number | undefined,
): Promise<Result<NextManifest | null>> {
  const moment = now(state);
  const chosen = chooseStream(moment, requested);
  if (!chosen.ok) return chosen;
  const stream = chosen.value;
  const view = stream === null ? null : viewIn(moment, stream);
  return ok(stream === null || view === null ? null : await nextManifestIn(deps, moment, view));
}

export type ManifestDeps = Pick<QueryDeps, "store" | "windowOf"> & {
  /** The names the model is likely to need; absent if the caller does not count names. */
  readonly needed?: (turn: number) => readonly NeededName[];
};

export async function nextManifestIn(deps: ManifestDeps, moment: Moment, view: View): Promise<NextManifest> {
  const { state } = moment;
  const stream = must(streamOf(moment, view.stream), "a view has a stream");
  const after = Math.max(lastSentTurn(moment, view)?.seq ?? 0, state.seq - framesScannedMax);
  const frames = await deps.store.frames({ session: state.session, after, limit: framesScannedMax });
  // If the disk cannot be read, only the changes are missing from the manifest.
  const since = frames.ok ? changesIn(frames.value, moment, view.id) : [];
  const size = deps.windowOf(modelIn(moment, stream));
  const window = windowRow({
    usage: lastUsage(moment, view),
    estimate: () => shownTokens(moment, view),
    size,
  });
  const { used, exact, free } = window;
  const turn = turnNow(moment, stream) + 1;
  const changes = { needed: deps.needed?.(turn) ?? [], since, needsCandidates: true };
  const factsInput = { ...unsized, window: window.size, used, exact, free, ...changes };
  return { moment, stream, view, facts: manifestFacts(moment, view, factsInput), turn };
}

const unsized = { window: null, used: 0, names: [], coldNames: [], since: [] };

/** The estimated size of a stream whose provider has not counted yet. */
function shownTokens(moment: Moment, view: View): number {
  const { primacy, middle, recency } = manifestFacts(moment, view, unsized);
  return primacy.tokens + middle.tokens + recency.tokens;
}

/** The manifest as it would be now, before the content of the next turn is known; with a stand-in nonce. */
export function nextManifestText({ facts, turn }: NextManifest, detail: ManifestDetail): string {
  const options = { nonce: shortNonce, turn, variant: "text", detail, fill: "shown" } as const;
  return manifestText(facts, options);
}

export async function manifestAnswer(
  deps: QueryDeps,
  state: State,
  { stream: requested, detail }: ManifestQuery,
): Promise<Result<ManifestAnswer>> {
  const next = await nextManifest(deps, state, requested);
  if (!next.ok) return next;
  if (next.value === null) return fail("AP_STREAM_UNKNOWN", { stream: requested ?? "main" });
  const { moment, stream, view, facts, turn } = next.value;
  const ranges: RangeRow[] = [];
  for (const range of facts.ranges) {
    const signatures = await signaturesIn(deps.store, reasoningIn(moment, view, range));
    ranges.push({ from: range.from, to: range.to, reasons: range.reasons, signatures });
  }
  const text = maskNonce(nextManifestText(next.value, detail), shortNonce);
  return ok({
    session: state.session,
    seq: state.seq,
    stream: stream.id,
    turn,
    mode: streamModeOf(moment, stream),
    detail,
    text,
    tokens: estimateText(text, modelIn(moment, stream)),
    ranges,
    signatures: ranges.reduce((sum, { signatures }) => sum + signatures, 0),
  });
}

function reasoningIn(moment: Moment, view: View, { from, to }: PrunedRange): readonly AddedBlock[] {
  const isIn = (message: number): boolean => message >= from && message <= to;
  return [...viewBlocks(moment, view)].filter(({ kind, message }) => kind === "reasoning" && isIn(message));
}

/** Enough parallel reads to hide the latency of the store. */
const contentReadsAtOnce = 32;

/** Counts stored signatures: purged reasoning, and reasoning without a signature, does not count. */
async function signaturesIn(store: Store, blocks: readonly AddedBlock[]): Promise<number> {
  let signatures = 0;
  const counted = blocks.slice(0, limits.blocksPerMessageMax);
  for (let start = 0; start < counted.length; start += contentReadsAtOnce) {
    const pendingReads = counted
      .slice(start, start + contentReadsAtOnce)
      .map(({ content }) => store.content(content));
    for (const read of await Promise.all(pendingReads)) if (read.ok && isSigned(read.value)) signatures += 1;
  }
  return signatures;
}
