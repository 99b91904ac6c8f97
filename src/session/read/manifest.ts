import { fail, limits, must, ok, type Result } from "../../base/index.ts";
import {
  blocksOf,
  lastSent,
  type Moment,
  now,
  type State,
  type Stream,
  streamOf,
  turnNow,
  type View,
} from "../../engine/index.ts";
import {
  changesIn,
  type ManifestFacts,
  manifestFacts,
  manifestText,
  type NeededName,
  type PrunedRange,
} from "../../render/index.ts";
import type { Store } from "../../store/index.ts";
import { estimateText } from "../../tokens/index.ts";
import { chosenStream, modeIn, modelIn, viewIn } from "./look.ts";
import { shortMark, withShownMark } from "./mark.ts";
import type { Library, ManifestQuestion } from "./questions.ts";
import { isSigned } from "./stored-words.ts";
import type { ManifestAnswer, ManifestDetail, RangeRow } from "./told-rows.ts";
import { lastUsage, windowRow } from "./window-row.ts";

/** Frames whose changes are looked through, as many as the desk is told of. */
const newsMax = 200;

/** A stream and what its model would be told of it now. */
export type Told = {
  readonly moment: Moment;
  readonly stream: Stream;
  readonly view: View;
  readonly facts: ManifestFacts;
  /** The turn that will be told so: the next one. */
  readonly turn: number;
};

/** Null: there is no stream, so there is nobody to tell. */
export async function toldNow(
  library: Pick<Library, "store" | "windowOf">,
  state: State,
  wanted: number | undefined,
): Promise<Result<Told | null>> {
  const moment = now(state);
  const chosen = chosenStream(moment, wanted);
  if (!chosen.ok) return chosen;
  const stream = chosen.value;
  const view = stream === null ? null : viewIn(moment, stream);
  return ok(stream === null || view === null ? null : await toldIn(library, moment, view));
}

/** Where what is told is found; only who keeps count of names knows which are needed. */
export type ToldPlace = Pick<Library, "store" | "windowOf"> & {
  readonly needed?: (turn: number) => readonly NeededName[];
};

/** What the model of one view would be told now. */
export async function toldIn(library: ToldPlace, moment: Moment, view: View): Promise<Told> {
  const { state } = moment;
  const stream = must(streamOf(moment, view.stream), "a view has a stream");
  const after = Math.max(lastSent(moment, view)?.seq ?? 0, state.seq - newsMax);
  const news = await library.store.frames({ session: state.session, after, limit: newsMax });
  // A disk that cannot be read takes the changes away, not what there is.
  const since = news.ok ? changesIn(news.value, moment, view.id) : [];
  const size = library.windowOf(modelIn(moment, stream));
  const window = windowRow({
    usage: lastUsage(moment, view),
    estimate: () => shownTokens(moment, view),
    size,
  });
  const { used, exact, free } = window;
  const turn = turnNow(moment, stream) + 1;
  const found = { needed: library.needed?.(turn) ?? [], since, asksUnused: true };
  const asked = { ...unsized, window: window.size, used, exact, free, ...found };
  return { moment, stream, view, facts: manifestFacts(moment, view, asked), turn };
}

const unsized = { window: null, used: 0, names: [], coldNames: [], since: [] };

/** For a stream whose provider has not counted yet. */
function shownTokens(moment: Moment, view: View): number {
  const { primacy, middle, recency } = manifestFacts(moment, view, unsized);
  return primacy.tokens + middle.tokens + recency.tokens;
}

/** What the next turn would say, before what comes with that turn. */
export function toldText({ facts, turn }: Told, detail: ManifestDetail): string {
  const options = { nonce: shortMark, turn, variant: "text", detail, fill: "shown" } as const;
  return withShownMark(manifestText(facts, options), shortMark);
}

export async function manifestAnswer(
  library: Library,
  state: State,
  { stream: wanted, detail }: ManifestQuestion,
): Promise<Result<ManifestAnswer>> {
  const told = await toldNow(library, state, wanted);
  if (!told.ok) return told;
  if (told.value === null) return fail("AP_STREAM_UNKNOWN", { stream: wanted ?? "main" });
  const { moment, stream, view, facts, turn } = told.value;
  const ranges: RangeRow[] = [];
  for (const range of facts.ranges) {
    const signatures = await signaturesIn(library.store, reasoningIn(moment, view, range));
    ranges.push({ from: range.from, to: range.to, reasons: range.reasons, signatures });
  }
  const text = toldText(told.value, detail);
  return ok({
    session: state.session,
    seq: state.seq,
    stream: stream.id,
    turn,
    mode: modeIn(moment, stream),
    detail,
    text,
    tokens: estimateText(text, modelIn(moment, stream)),
    ranges,
    signatures: ranges.reduce((sum, { signatures }) => sum + signatures, 0),
  });
}

type Hashed = { readonly content: Parameters<Store["content"]>[0] };

function reasoningIn(moment: Moment, view: View, { from, to }: PrunedRange): readonly Hashed[] {
  const isIn = (message: number): boolean => message >= from && message <= to;
  return [...blocksOf(moment, view)].filter(({ kind, message }) => kind === "reasoning" && isIn(message));
}

/** So many are read together: enough to hide the way to the store and back. */
const readsTogether = 32;

/** Counted where they lie: what was purged, or came without a signature, is not preserved. */
async function signaturesIn(store: Store, blocks: readonly Hashed[]): Promise<number> {
  let signatures = 0;
  const some = blocks.slice(0, limits.blocksPerMessageMax);
  for (let start = 0; start < some.length; start += readsTogether) {
    const reads = some.slice(start, start + readsTogether).map(({ content }) => store.content(content));
    for (const read of await Promise.all(reads)) if (read.ok && isSigned(read.value)) signatures += 1;
  }
  return signatures;
}
