import { type ContentHash, must, type SessionId, type UnitId } from "../base/index.ts";
import type { RecordedExchange, Unit, UnitOrigin } from "../engine/frames/index.ts";
import type { SentTurn, State, View } from "../engine/index.ts";
import { exchangesOf, type Moment, now, turnNow, viewBlocks } from "../engine/moment/index.ts";
import type { StreamRecord, TurnRecord, UnitRecord } from "../exchange/index.ts";
import { modelIn, streamsOf, viewIn } from "../log/index.ts";
import { readStoredRequest, type WireUnit } from "../protocols/index.ts";
import type { ExchangeSide, Store } from "../store/index.ts";
import { plainAnswer } from "./read-copy.ts";

const turnsMax = 64;
const bytesMax = 8 * 1024 * 1024;
const originalBytesMax = 4 * 1024 * 1024;
const mainStream = "main";

type SessionContents = { readonly state: State; readonly store: Store };

/**
 * Reads a stream from the log, as a ledger needs it to continue: its last path, and other paths that end
 * elsewhere. A path that another one continues is part of that one and left out.
 */
export async function readStreamRecord(
  contents: SessionContents,
  agent: string | null,
  generatedName: string | null,
): Promise<Omit<StreamRecord, "wishes">> {
  const moment = now(contents.state);
  const stream = streamsOf(moment).find(({ name }) => name === (agent ?? mainStream)) ?? null;
  const exchanges = exchangesOf(moment);
  // An exchange without a stream may belong to this one, so it counts as managed to be safe.
  const wasManaged = exchanges.some(
    ({ rendering, stream: of }) => rendering !== "raw" && (of === null || of === stream?.id),
  );
  const view = stream === null ? null : viewIn(moment, stream);
  const { next: nextIds } = contents.state;
  const model = stream === null ? null : modelIn(moment, stream);
  const common = { generatedName, wasManaged, nextIds, model };
  if (stream === null || view === null)
    return { ...common, isKnown: false, turns: [], lastTurn: 0, blocks: [] };
  const turns = await turnsOf(contents, moment, view);
  const blocks = [...viewBlocks(moment, view)].map(({ anchor, id, message, turn }) => ({
    key: anchor,
    block: id,
    message,
    turn,
  }));
  return { ...common, isKnown: true, turns, lastTurn: turnNow(moment, stream), blocks };
}

async function turnsOf(
  { state, store }: SessionContents,
  moment: Moment,
  view: View,
): Promise<readonly TurnRecord[]> {
  const turns: TurnRecord[] = [];
  const known = new Set<string>();
  const exchanges = exchangesOf(moment);
  let left = bytesMax;
  for (const sent of pathEnds(state, view)) {
    const exchange = must(exchanges[sent.exchange - 1], "a turn was sent with an exchange");
    const readBody = bodyReader(store, state.session, exchange);
    const body = await readBody("upstream-request");
    const answer = body === null ? null : await answerTo(exchange, readBody);
    left -= (body?.length ?? 0) + (answer?.body.length ?? 0);
    // The last turn is included whatever its size: without it there is nothing to continue.
    if (left < 0 && turns.length > 0) break;
    if (body === null) continue;
    const units = unitsIn(body, exchange);
    const path = await sentPath({ body, units, ledger: ledgerPath(state, sent.leaf), exchange, readBody });
    turns.push({ body, path, answer, turn: sent.turn });
    for (const { hash } of units ?? []) known.add(hash);
  }
  return await withOriginals(turns.reverse(), { store, known, bytesMax: originalBytesMax });
}

/**
 * The turns whose path no later turn continues, newest first. If several end at one leaf, an answered one is
 * used. Turns that the provider refused are left out.
 */
function pathEnds(state: State, view: View): readonly SentTurn[] {
  const covered = new Set<UnitId>();
  const ends = new Map<UnitId, SentTurn>();
  for (let at = view.sent.size - 1; at >= 0 && ends.size < turnsMax; at -= 1) {
    const sent = must(view.sent.get(at), "sent turns have no gaps");
    if (exchangeIn(state, sent).end?.status === 400) continue;
    const other = ends.get(sent.leaf);
    if (other !== undefined && !hasAnswer(state, other) && hasAnswer(state, sent)) ends.set(sent.leaf, sent);
    if (covered.has(sent.leaf)) continue;
    ends.set(sent.leaf, sent);
    for (let unit: UnitId | null = sent.leaf; unit !== null && !covered.has(unit); ) {
      covered.add(unit);
      unit = must(state.units.get(unit), "a path is made of sent units").parent;
    }
  }
  return [...ends.values()];
}

function hasAnswer(state: State, sent: SentTurn): boolean {
  return isAnswered(exchangeIn(state, sent));
}

function exchangeIn(state: State, { exchange }: SentTurn): RecordedExchange {
  return must(state.exchanges.get(exchange - 1), "a turn was sent with an exchange");
}

function isAnswered({ end }: RecordedExchange): boolean {
  return end !== null && end.status !== null && end.status < 300;
}

type BodyReader = (side: ExchangeSide) => Promise<Uint8Array | null>;

/** A body that was sent unchanged is stored once, as the client's. A recent body may need a flush first. */
function bodyReader(store: Store, session: SessionId, { id, rendering }: RecordedExchange): BodyReader {
  return async (side) => {
    const own = side === "upstream-request" && rendering === "raw" ? "client-request" : side;
    const key = { session, exchange: id, side: own };
    const body = await store.body(key);
    if (body.ok) return body.value;
    await store.flush();
    const written = await store.body(key);
    return written.ok ? written.value : null;
  };
}

async function answerTo(exchange: RecordedExchange, readBody: BodyReader): Promise<TurnRecord["answer"]> {
  const body = isAnswered(exchange) ? await readBody("upstream-response") : null;
  return body === null ? null : plainAnswer(body);
}

function ledgerPath(state: State, leaf: UnitId): readonly UnitRecord[] {
  const path: UnitRecord[] = [];
  for (let at: UnitId | null = leaf; at !== null; ) {
    const unit: Unit = must(state.units.get(at), "a path is made of sent units");
    const { origin, anchor: key, bytes, cleared } = unit;
    const record = { origin, key, bytesHash: bytes, ...(cleared === undefined ? {} : { cleared }) };
    path.push({ ...record, ...originalOf(state, unit), ...blockOf(state, unit) });
    at = unit.parent;
  }
  return path.reverse();
}

function blockOf(state: State, { shows: [shown] }: Unit): Pick<UnitRecord, "block"> {
  const block = shown === undefined ? undefined : state.blocks.get(shown.block)?.block;
  if (block === undefined) return {};
  const { id, message, turn } = block;
  return { block: { block: id, message, turn } };
}

/**
 * The content of a unit's block if the unit shows it otherwise: a client repeats the content. Units may
 * differ in form only; of those shown whole, only a result can differ in its text.
 */
function originalOf(state: State, { shows: [shown], bytes }: Unit): Pick<UnitRecord, "original"> {
  const block = shown === undefined ? undefined : state.blocks.get(shown.block)?.block;
  if (shown === undefined || block === undefined || block.content === bytes) return {};
  if (shown.as === "original" && block.kind !== "tool-result") return {};
  return { original: { content: block.content, as: shown.as } };
}

type SentPathInput = {
  readonly body: Uint8Array;
  /** The units of the body; null if it cannot be read. */
  readonly units: readonly WireUnit[] | null;
  readonly ledger: readonly UnitRecord[];
  readonly exchange: RecordedExchange;
  readonly readBody: BodyReader;
};

/**
 * The ledger's path, if the body contains it; the body may contain more, such as units that were sent once
 * and dropped. If a report was lost, or a client wrote a unit another way, the path is read from the body
 * instead: units that the client did not send are ours.
 */
async function sentPath({
  body,
  units,
  ledger,
  exchange,
  readBody,
}: SentPathInput): Promise<readonly UnitRecord[]> {
  // A managed request always has units of ours. A path without any was recorded without a report.
  const isReported = exchange.rendering !== "managed" || ledger.some(({ origin }) => origin === "aperture");
  if (units === null || (isReported && isSubsequence(ledger, units))) return ledger;
  const clientBody = exchange.rendering === "raw" ? body : await readBody("client-request");
  const clientUnits = (clientBody === null ? null : unitsIn(clientBody, exchange)) ?? [];
  const clientKeys = new Set(clientUnits.flatMap(({ key, hash }) => [key, hash]));
  return units.map((unit) => {
    const { key, hash } = unit;
    // Our units are only texts and never from the model, so other units are the client's in another form.
    const isFromClient =
      clientKeys.has(hash) || clientKeys.has(key) || unit.role === "assistant" || unit.part === "result";
    return { origin: isFromClient ? originOf(unit) : "aperture", key, bytesHash: hash };
  });
}

function originOf({ section, role }: WireUnit): UnitOrigin {
  return section === "messages" && role === "assistant" ? "model" : "client";
}

function unitsIn(body: Uint8Array, exchange: RecordedExchange): readonly WireUnit[] | null {
  const request = readStoredRequest(body, exchange);
  if (request === null) return null;
  return [request.tools, request.system, ...request.messages].flatMap((group) => group.units);
}

/** True if a body contains all units of a path in this order. */
function isSubsequence(path: readonly UnitRecord[], units: readonly WireUnit[]): boolean {
  let at = 0;
  for (const { hash } of units) if (path[at]?.bytesHash === hash) at += 1;
  return at === path.length;
}

/** Limits the reads. A path with more shortened units is continued by those that were read. */
const originalsMax = 256;

type OriginalsInput = {
  readonly store: Store;
  /** Hashes of all units in the bodies of the turns: these contents need not be read. */
  readonly known: ReadonlySet<string>;
  /** Bytes to read at most. */
  readonly bytesMax: number;
};

/**
 * Adds the original contents of shortened units to turns, newest first. Most are in the body of an earlier
 * turn; units that were shortened on arrival are in none, and without them a client could repeat those in one
 * form only.
 */
export async function withOriginals(
  turns: readonly TurnRecord[],
  input: OriginalsInput,
): Promise<readonly TurnRecord[]> {
  const missing = turns.toReversed().flatMap(({ path }) => path.toReversed().flatMap(originalHash));
  const wanted = [...new Set(missing)].filter((content) => !input.known.has(content));
  if (wanted.length === 0) return turns;
  const contents = await readContents(wanted.slice(0, originalsMax), input);
  const withOriginal = (unit: UnitRecord): UnitRecord => {
    const bytes = unit.original === undefined ? undefined : contents.get(unit.original.content);
    return unit.original === undefined || bytes === undefined
      ? unit
      : { ...unit, original: { ...unit.original, bytes } };
  };
  return turns.map((turn) => ({ ...turn, path: turn.path.map(withOriginal) }));
}

function originalHash({ original }: UnitRecord): readonly string[] {
  return original === undefined ? [] : [original.content];
}

/** Contents that were purged or are not stored yet are left out. */
async function readContents(
  hashes: readonly string[],
  { store, bytesMax }: OriginalsInput,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  let left = bytesMax;
  await store.flush();
  for (const hash of hashes) {
    if (left <= 0) break;
    const found = await store.content(hash as ContentHash);
    if (!found.ok) continue;
    left -= found.value.length;
    if (left >= 0) contents.set(hash, found.value);
  }
  return contents;
}
