import { must, type SessionId, type UnitId } from "../../base/index.ts";
import {
  blocksOf,
  exchangesOf,
  type Moment,
  now,
  type Origin,
  type RecordedExchange,
  type SentTurn,
  type State,
  turnNow,
  type Unit,
  type View,
} from "../../engine/index.ts";
import { ingestRequest, type WireUnit } from "../../protocols/index.ts";
import type { Side, Store } from "../../store/index.ts";
import type { RememberedStream, RememberedTurn } from "../desk-port.ts";
import { modelIn, streamsOf, viewIn } from "./look.ts";
import { withOriginals } from "./originals.ts";
import { plainAnswer } from "./plain-answer.ts";

const turnsMax = 64;
const bytesMax = 8 * 1024 * 1024;
const originalBytesMax = 4 * 1024 * 1024;
const mainStream = "main";

type Opened = { readonly state: State; readonly store: Store };
type PathUnit = RememberedTurn["path"][number];

/**
 * A stream as a ledger needs it to go on: its last path, and others that lead elsewhere. A path that another
 * one goes on with is part of that one and not given again.
 */
export async function rememberedStream(
  opened: Opened,
  agent: string | null,
  talkName: string | null,
): Promise<Omit<RememberedStream, "briefing">> {
  const moment = now(opened.state);
  const stream = streamsOf(moment).find(({ name }) => name === (agent ?? mainStream)) ?? null;
  const all = exchangesOf(moment);
  // An exchange of no stream may have been of this one: better to take care once too often.
  const wasManaged = all.some(
    ({ rendering, stream: of }) => rendering !== "raw" && (of === null || of === stream?.id),
  );
  const view = stream === null ? null : viewIn(moment, stream);
  const { next } = opened.state;
  const model = stream === null ? null : modelIn(moment, stream);
  const common = { talkName, wasManaged, next, model };
  if (stream === null || view === null) return { ...common, isKnown: false, turns: [], turn: 0, blocks: [] };
  const turns = await turnsOf(opened, moment, view);
  const blocks = [...blocksOf(moment, view)].map(({ anchor, id, message, turn }) => ({
    key: anchor,
    block: id,
    message,
    turn,
  }));
  return { ...common, isKnown: true, turns, turn: turnNow(moment, stream), blocks };
}

async function turnsOf(
  { state, store }: Opened,
  moment: Moment,
  view: View,
): Promise<readonly RememberedTurn[]> {
  const turns: RememberedTurn[] = [];
  const known = new Set<string>();
  const exchanges = exchangesOf(moment);
  let left = bytesMax;
  for (const sent of apartLeaves(state, view)) {
    const exchange = must(exchanges[sent.exchange - 1], "a turn was sent with an exchange");
    const bodies = bodyReader(store, state.session, exchange);
    const body = await bodies("upstream-request");
    const answer = body === null ? null : await answerTo(exchange, bodies);
    left -= (body?.length ?? 0) + (answer?.body.length ?? 0);
    // The last turn is given whatever its size: without it there is nothing to go on with.
    if (left < 0 && turns.length > 0) break;
    if (body === null) continue;
    const units = unitsIn(body);
    const path = await sentPath({ body, units, ledger: ledgerPath(state, sent.leaf), exchange, bodies });
    turns.push({ body, path, answer, turn: sent.turn });
    for (const { hash } of units ?? []) known.add(hash);
  }
  return await withOriginals(turns.reverse(), { store, known, bytesMax: originalBytesMax });
}

/**
 * The turns whose path no later one goes on with, newest first. Of several at one leaf, an answered one. What
 * the provider has refused is no path to go on with.
 */
function apartLeaves(state: State, view: View): readonly SentTurn[] {
  const covered = new Set<UnitId>();
  const apart = new Map<UnitId, SentTurn>();
  for (let at = view.sent.size - 1; at >= 0 && apart.size < turnsMax; at -= 1) {
    const sent = must(view.sent.get(at), "sent turns have no gaps");
    if (exchangeIn(state, sent).end?.status === 400) continue;
    const chosen = apart.get(sent.leaf);
    if (chosen !== undefined && !hasAnswer(state, chosen) && hasAnswer(state, sent))
      apart.set(sent.leaf, sent);
    if (covered.has(sent.leaf)) continue;
    apart.set(sent.leaf, sent);
    for (let unit: UnitId | null = sent.leaf; unit !== null && !covered.has(unit); ) {
      covered.add(unit);
      unit = must(state.units.get(unit), "a path is made of sent units").parent;
    }
  }
  return [...apart.values()];
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

type ReadBody = (side: Side) => Promise<Uint8Array | null>;

/** What was sent on as it came is stored once. What was only just written down may need a moment. */
function bodyReader(store: Store, session: SessionId, { id, rendering }: RecordedExchange): ReadBody {
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

async function answerTo(exchange: RecordedExchange, bodies: ReadBody): Promise<RememberedTurn["answer"]> {
  const body = isAnswered(exchange) ? await bodies("upstream-response") : null;
  return body === null ? null : plainAnswer(body);
}

function ledgerPath(state: State, leaf: UnitId): readonly PathUnit[] {
  const path: PathUnit[] = [];
  for (let at: UnitId | null = leaf; at !== null; ) {
    const unit: Unit = must(state.units.get(at), "a path is made of sent units");
    const { origin, anchor: key, bytes, cleared } = unit;
    const said = { origin, key, bytes, ...(cleared === undefined ? {} : { cleared }) };
    path.push({ ...said, ...otherWords(state, unit), ...blockOf(state, unit) });
    at = unit.parent;
  }
  return path.reverse();
}

function blockOf(state: State, { shows: [shown] }: Unit): Pick<PathUnit, "block"> {
  const block = shown === undefined ? undefined : state.blocks.get(shown.block)?.block;
  if (block === undefined) return {};
  const { id, message, turn } = block;
  return { block: { block: id, message, turn } };
}

/**
 * For a unit in other words than its block: a client repeats the block. Anything may be written another way;
 * only a result is said in other words and still whole.
 */
function otherWords(state: State, { shows: [shown], bytes }: Unit): Pick<PathUnit, "of"> {
  const block = shown === undefined ? undefined : state.blocks.get(shown.block)?.block;
  if (shown === undefined || block === undefined || block.content === bytes) return {};
  if (shown.as === "original" && block.kind !== "tool-result") return {};
  return { of: { content: block.content, as: shown.as } };
}

type SentPath = {
  readonly body: Uint8Array;
  /** What it is made of; null where it cannot be read. */
  readonly units: readonly WireUnit[] | null;
  readonly ledger: readonly PathUnit[];
  readonly exchange: RecordedExchange;
  readonly bodies: ReadBody;
};

/**
 * The path as the ledger has it, if the body bears it out: a body may hold more, such as what was sent once
 * and dropped. Where a report was lost, or a client wrote the same thing another way, the body is what was
 * really sent; what the client did not send is ours.
 */
async function sentPath({ body, units, ledger, exchange, bodies }: SentPath): Promise<readonly PathUnit[]> {
  // Nothing managed is without anything of ours: such a path is the client's, put down for want of a report.
  const isOwn = exchange.rendering !== "managed" || ledger.some(({ origin }) => origin === "aperture");
  if (units === null || (isOwn && isAmong(ledger, units))) return ledger;
  const client = exchange.rendering === "raw" ? body : await bodies("client-request");
  const theirs = (client === null ? null : unitsIn(client)) ?? [];
  const said = new Set(theirs.flatMap(({ key, hash }) => [key, hash]));
  return units.map((unit) => {
    const { key, hash } = unit;
    // A client may write the same thing another way; ours are only texts, and never the model's.
    const isTheirs =
      said.has(hash) || said.has(key) || unit.role === "assistant" || unit.type === "tool_result";
    return { origin: isTheirs ? originOf(unit) : "aperture", key, bytes: hash };
  });
}

function originOf({ section, role }: WireUnit): Origin {
  return section === "messages" && role === "assistant" ? "model" : "client";
}

function unitsIn(body: Uint8Array): readonly WireUnit[] | null {
  const request = ingestRequest(body, null);
  if (request === null) return null;
  return [request.tools, request.system, ...request.messages].flatMap((group) => group.units);
}

/** Whether all units of a path stand in a body in this order. */
function isAmong(path: readonly PathUnit[], units: readonly WireUnit[]): boolean {
  let at = 0;
  for (const { hash } of units) if (path[at]?.bytes === hash) at += 1;
  return at === path.length;
}
