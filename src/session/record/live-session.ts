import {
  type ApertureError,
  type ContentHash,
  fail,
  must,
  ok,
  type Result,
  turnOf,
} from "../../base/index.ts";
import {
  type Cause,
  type Change,
  type Delta,
  type ExchangeEnd,
  exchangeOf,
  exchangesOf,
  type Frame,
  type Identity,
  nextStep,
  now,
  type Proposal,
  type State,
  streamOf,
  type TurnOutcome,
  turnNow,
} from "../../engine/index.ts";
import type { WireAnswer, WireRequest } from "../../protocols/index.ts";
import type { Side, Store } from "../../store/index.ts";
import type { Briefing } from "../desk-port.ts";
import type { RequestCopy, ResponseCopy } from "../exchange.ts";
import type { Attached } from "../outbox.ts";
import type { SessionLog } from "../session-log.ts";
import { placedUnits } from "./align.ts";
import type { BodyMemory } from "./body-memory.ts";
import { type Briefed, Briefer, type WordsPlace } from "./briefing.ts";
import { Draft } from "./draft.ts";
import { attachedTo, responseBody } from "./exchange-bodies.ts";
import { exchangeEnd, openEnd, turnOutcome, turnSentWith } from "./exchange-end.ts";
import { fitOfTalk } from "./fit-talk.ts";
import type { Sharing } from "./id-pool.ts";
import { expireLine, type Keeping, markRestated, renderLine, settleLine } from "./keep-line.ts";
import { KeptBodies, type UpstreamOf, type WrittenBody } from "./kept-bodies.ts";
import type { Searched } from "./masking.ts";
import { newLine } from "./new-line.ts";
import { noteSent } from "./note-sent.ts";
import { openedStream } from "./opened-stream.ts";
import { recallTalks } from "./recall-talks.ts";
import {
  type Appending,
  type AskedRequest,
  type Beside,
  type OpenExchange,
  type RecordedLine,
  recordingOf,
  type Turning,
} from "./recorded-line.ts";
import { openedExchange } from "./relation.ts";
import type { RefusedSummary } from "./renditions.ts";
import { standingIn } from "./standing.ts";
import { indexStreams, StreamIndex } from "./stream-index.ts";
import { draftTurn, runStarted } from "./turn-draft.ts";

/** Memory for bodies, and who is told of frames that were appended or could not be stored after all. */
type Surroundings = {
  readonly memory: BodyMemory;
  readonly heard: (frame: Frame) => void;
  readonly lost: (error: ApertureError) => void;
};

/** More deltas than this go into several frames; the last one carries the turn. */
const deltasPerFrame = 4_000;
const main = "main";

/**
 * One session while it is being recorded: the log, and beside it what makes recognising the next request
 * cheap. If the log refuses a frame, this memory is no longer true and is made anew from the log.
 */
export class LiveSession {
  readonly #log: SessionLog;
  readonly #lines = new Map<string, RecordedLine>();
  readonly #stored = new Set<ContentHash>();
  readonly #heard: (frame: Frame) => void;
  readonly #lost: (error: ApertureError) => void;
  readonly #bodies: KeptBodies;
  readonly #sharing: Sharing = { isShared: false };
  readonly #briefer = new Briefer();
  readonly #keeping: Keeping = { state: () => this.state(), append: (asked) => this.#append(asked) };
  #recalled: Promise<void> | null = null;

  constructor(log: SessionLog, { heard, lost, memory }: Surroundings) {
    this.#log = log;
    this.#bodies = new KeptBodies(log.state().session, memory);
    this.#heard = heard;
    this.#lost = lost;
    this.#remember();
  }

  #remember(): void {
    const state = this.state();
    this.#lines.clear();
    this.#bodies.clear();
    this.#stored.clear();
    this.#recalled = null;
    for (const [stream, index] of indexStreams(state)) {
      const { name } = must(streamOf(now(state), stream), "an index belongs to a stream");
      this.#lines.set(name, newLine(name, index, this.#sharing));
    }
    if (exchangesOf(now(state)).some(({ rendering }) => rendering !== "raw")) this.share();
    for (const [, unit] of state.units.entries()) this.#stored.add(unit.bytes);
  }

  /** What the desk is to know of a stream it has sent for; null where there is none. */
  async briefing(agent: string | null, briefed: Briefed & WordsPlace): Promise<Briefing | null> {
    const line = this.line(agent ?? main);
    return line === null ? null : await this.#briefer.briefing(this.state(), line, briefed);
  }

  /** What happens by itself after a turn; without policy, only what time does, and what is noted. */
  settle(agent: string | null, policy: "auto" | "off"): Result<void> {
    const line = this.#lines.get(agent ?? main);
    const expired = line === undefined ? ok(undefined) : expireLine(this.#keeping, line);
    return line === undefined || !expired.ok ? expired : settleLine(this.#keeping, line, policy);
  }

  /** Marks memories that the last answer says again or otherwise. */
  async restate(agent: string | null, said: string, store: Pick<Store, "content">): Promise<Result<void>> {
    const line = this.#lines.get(agent ?? main);
    return line === undefined ? ok(undefined) : await markRestated(this.#keeping, line, { said, store });
  }

  /** Makes the renditions of what came with the last turn, once nobody waits for anything. */
  render(agent: string | null, model: string | null): Result<readonly RefusedSummary[]> {
    const line = this.#lines.get(agent ?? main);
    return line === undefined ? ok([]) : renderLine(this.#keeping, line, model);
  }

  /** Something the user does, in the view of one stream: the proposal that was carried out. */
  act(stream: string, propose: (change: Change) => Proposal): Result<Proposal> {
    const line = this.line(stream);
    if (line === null) return fail("AP_STREAM_UNKNOWN", { stream });
    const state = this.state();
    const view = must(state.views.get(line.index.view), "an index belongs to a view");
    const proposal = propose({ moment: now(state), view, actor: "user" });
    const cause: Cause = { type: "command", step: nextStep(state), reason: "" };
    const carried = this.carry({ deltas: proposal.deltas, cause, actor: "user", line });
    return carried.ok ? ok(proposal) : carried;
  }

  /** Appends what somebody does in a stream, if it comes to anything. */
  carry(asked: Appending): Result<void> {
    return asked.deltas.length === 0 ? ok(undefined) : this.#append(asked);
  }

  line(stream: string): RecordedLine | null {
    return this.#lines.get(stream) ?? null;
  }

  /** For every stream the desk was told of. */
  briefings(store: Pick<Store, "content">): Promise<readonly Briefing[]> {
    return this.#briefer.again(this.state(), store);
  }

  /** Of a frame that was appended, whoever needs to know. */
  note(frame: Frame): void {
    this.#briefer.note(frame);
    this.#heard(frame);
  }

  /** From here on the desk numbers some of its blocks. */
  share(): void {
    this.#sharing.isShared = true;
  }

  state(): State {
    return this.#log.state();
  }

  /** The first frame of a session says whose it is. */
  begin(identity: Identity): Result<void> {
    return this.#append({ deltas: [{ type: "session-identified", identity }], type: "session" });
  }

  /** Requests that were open when the process ended will never be answered. */
  closeInterrupted(): Result<void> {
    const open = [...this.state().exchanges.entries()].filter(([, { end }]) => end === null);
    const deltas = open.flatMap(([, exchange]): Delta[] => {
      const { id } = exchange;
      const end: ExchangeEnd = { ...openEnd, exchange: id, outcome: "interrupted" };
      return [...this.#turnsOf(id, "interrupted"), { type: "exchange-closed", end }];
    });
    return deltas.length === 0 ? ok(undefined) : this.#append({ deltas, type: "session" });
  }

  /**
   * What the ledger sent does not say all that the client said: that is read once from its last request.
   * Where it cannot be read, the session is recognised by what was sent.
   */
  recall(store: Pick<Store, "body">): Promise<void> {
    const indexes = [...this.#lines.values()].map(({ index }) => index);
    this.#recalled ??= recallTalks(indexes, () => this.state(), store);
    return this.#recalled;
  }

  /** How well a request goes on with this session's main talk; null if it does not. */
  fit(talk: readonly string[], isLoose = false): number | null {
    const index = this.#lines.get(main)?.index;
    return index === undefined ? null : fitOfTalk({ talk, index, isLoose }, this.state());
  }

  /** The request to take unchanged parts over from. */
  lastRequest(agent: string | null): WireRequest | null {
    return this.#lines.get(agent ?? main)?.index.last?.request ?? null;
  }

  /** The last body of a side, of which the next need not be searched again. */
  searched(side: Side, agent: string | null): Searched | null {
    const line = this.#lines.get(agent ?? main);
    return line === undefined ? null : this.#bodies.searched(side, line.index.stream);
  }

  /** Bytes held only to make the next request cheaper. */
  keptBytes(): number {
    return this.#bodies.bytes();
  }

  /** The next request is compared and written from scratch, once. */
  forgetBodies(): void {
    this.#bodies.clear();
    for (const { index } of this.#lines.values()) {
      if (index.last !== null) index.last = { ...index.last, request: null };
    }
  }

  request(asked: AskedRequest): Result<OpenExchange> {
    const { request, belonging } = asked;
    if (request === null) return this.#beside({ asked, role: "unread" });
    if (asked.copy.sent !== null) this.share();
    const line = this.#lines.get(belonging.agent ?? main) ?? null;
    const standing = standingIn(this.state(), { ...asked, request }, line);
    if (standing.role !== "turn") return this.#beside({ asked, role: standing.role, line });
    const opened = line === null ? this.#openLine(belonging.agent) : ok(line);
    if (!opened.ok) return opened;
    const turn = this.#turn({ asked, request, standing, line: opened.value });
    if (turn.ok) return turn;
    // What the log does not take as a talk it takes as bytes; ids that were to be reserved are not.
    this.#remember();
    return this.#beside({ asked, role: "unread" });
  }

  answer(open: OpenExchange, copy: ResponseCopy, answer: WireAnswer | null): Result<void> {
    const { exchange } = open;
    const line = open.line === null ? null : (this.#lines.get(open.line) ?? null);
    const units = answer?.units ?? [];
    line?.summaries.remember(exchange, units);
    const place = line === null || open.turn === null ? null : this.#draftPlace(line, open.turn, open.model);
    const draft = place === null ? null : new Draft(place);
    const outcome = turnOutcome(copy, answer);
    const blocks = outcome === "failed" ? [] : (draft?.answer(units, copy.numbered) ?? []);
    const end = exchangeEnd(open, copy, answer);
    const deltas: Delta[] = [
      ...(draft?.deltas ?? []),
      ...this.#turnsOf(exchange, outcome, answer),
      { type: "exchange-closed", end },
    ];
    const kept =
      copy.body === null ? null : responseBody({ session: this.state().session, exchange }, copy.body);
    const contents = [...(draft?.contents ?? []), ...(kept?.contents ?? [])];
    const bodies = kept === null ? [] : [kept.body];
    const appended = this.#append({ deltas, type: "response", line, attached: { contents, bodies } });
    if (appended.ok) {
      draft?.learn();
      line?.sizes.answered(exchange, units, answer?.usage ?? null);
      if (line !== null && draft !== null && open.turn !== null) {
        const referred = line.names.hear(units, open.turn, blocks);
        line.policy.added(line.renditions.added(draft.deltas, draft.contents));
        line.policy.referred(referred);
      }
      for (const { hash } of draft?.contents ?? []) this.#stored.add(hash);
    }
    return appended;
  }

  /** Each agent has a line, forked from the main one before anything was said: it shares nothing. */
  #openLine(agent: string | null): Result<RecordedLine> {
    const name = agent ?? main;
    const parent = agent === null ? null : (this.#lines.get(main)?.index.stream ?? null);
    const { stream, view, deltas } = openedStream(this.state(), name, parent);
    const appended = this.#append({ deltas, type: "session" });
    if (!appended.ok) return appended;
    const index = new StreamIndex(stream, view);
    const line = newLine(name, index, this.#sharing);
    this.#lines.set(name, line);
    return ok(line);
  }

  #turn({ asked, request, standing, line }: Turning): Result<OpenExchange> {
    const { copy, forms } = asked;
    const state = this.state();
    const { index } = line;
    const stream = must(streamOf(now(state), index.stream), "a line has a stream");
    const before = turnNow(now(state), stream);
    const turn = standing.relation === "retry" && before > 0 ? before : before + 1;
    const draft = new Draft(this.#draftPlace(line, turn, request.model));
    const drafted = draftTurn({ draft, index, state }, request, copy.sent);
    const { leaf, path, blocks, fresh, epoch } = drafted;
    if (leaf === null) return this.#beside({ asked, role: "unread", line });
    // What the body before does not have is named by its content.
    const slices = draft.name(placedUnits(request, this.#bodies.sharedUnits(index.stream, request)), request);
    const placed = { stream: index.stream, model: request.model, ...standing };
    const exchange = openedExchange(state.exchanges.size + 1, copy, placed);
    const deltas: Delta[] = [
      ...epoch,
      ...draft.deltas,
      ...runStarted(state, index, fresh),
      { type: "exchange-opened", exchange },
      { type: "turn-sent", view: index.view, turn: turnOf(turn), leaf, exchange: exchange.id },
    ];
    const { id } = exchange;
    const { stream: own } = exchange;
    const written = { exchange: id, stream: own, bytes: request.bytes, request, slices, forms };
    const kept = this.#written(copy, written, { exchange: id, stream: own, draft, forms });
    const attached = { contents: [...draft.contents, ...kept.contents], bodies: kept.bodies };
    const appended = this.#append({ deltas, type: "request", line, attached });
    if (!appended.ok) return appended;
    draft.learn();
    for (const { hash } of draft.contents) this.#stored.add(hash);
    this.#briefer.told(copy.sent?.briefed ?? 0);
    noteSent(line, { copy, request, exchange, turn, drafted }, this.state());
    line.policy.added(line.renditions.added(draft.deltas, draft.contents));
    line.policy.arrived(copy.sent);
    if (epoch.length > 0) line.policy.rewritten(copy.sent);
    index.last = { exchange: exchange.id, path, blocks, talk: request.talk, request };
    return ok({ exchange: exchange.id, line: line.name, turn, model: request.model, problem: null });
  }

  /** A request that is no turn: its bytes are kept, its blocks are not its session's. */
  #beside({ asked, role, line = null }: Beside): Result<OpenExchange> {
    const { copy, request, forms } = asked;
    const model = request?.model ?? null;
    const stream = role === "compaction" ? (line?.index.stream ?? null) : null;
    const standing = { role, relation: "none", of: null, stream, model } as const;
    const exchange = openedExchange(this.state().exchanges.size + 1, copy, standing);
    const { id } = exchange;
    const { body: bytes } = copy;
    // Its units are not named, so the next body must not be taken for one that has them by name.
    const written = bytes === null ? null : { exchange: id, stream, bytes, request: null, slices: [], forms };
    const attached = this.#written(copy, written, { exchange: id, stream, draft: null, forms });
    const deltas: Delta[] = [{ type: "exchange-opened", exchange }];
    const appended = this.#append({ deltas, type: "request", attached });
    if (!appended.ok) return appended;
    const problem = copy.body === null ? "its request was too large to keep" : null;
    return ok({ exchange: exchange.id, line: line?.name ?? null, turn: null, model, problem });
  }

  /** Both sides of what was asked: as the client sent it, and as it went upstream if that differs. */
  #written(copy: RequestCopy, client: WrittenBody | null, asked: UpstreamOf): Required<Attached> {
    const own = client === null ? null : this.#bodies.request(client);
    const sent = this.#bodies.upstream(copy.sent, client, asked);
    return {
      contents: [...(own?.contents ?? []), ...sent.contents],
      bodies: [...(own?.bodies ?? []), ...sent.bodies],
    };
  }

  #draftPlace({ index, ids }: RecordedLine, turn: number, model: string | null) {
    return { state: this.state(), index, ids, stored: this.#stored, turn: turnOf(turn), model };
  }

  /** The turns that were sent with an exchange, answered. */
  #turnsOf(exchange: number, outcome: TurnOutcome, answer: WireAnswer | null = null): readonly Delta[] {
    const { stream, role } = must(exchangeOf(now(this.state()), exchange), "the exchange was opened");
    const line = [...this.#lines.values()].find(({ index }) => index.stream === stream);
    if (role !== "turn" || line === undefined) return [];
    const view = must(this.state().views.get(line.index.view), "a line has a view");
    const sent = turnSentWith(view, exchange);
    if (sent === null) return [];
    return [{ type: "turn-answered", view: view.id, turn: sent.turn, outcome, usage: answer?.usage ?? null }];
  }

  #append({ deltas, line = null, attached = {}, ...why }: Appending): Result<void> {
    const { actor, cause } = "cause" in why ? why : recordingOf(why.type);
    const stream = line?.index.stream ?? null;
    for (let at = 0; at < deltas.length; at += deltasPerFrame) {
      const isLast = at + deltasPerFrame >= deltas.length;
      const entry = { stream, actor, cause, deltas: deltas.slice(at, at + deltasPerFrame) } as const;
      // Contents go first: nothing may point to what is not there.
      const appended = this.#log.append(entry, attachedTo(attached, at === 0, isLast));
      if (!appended.ok) return appended;
      void appended.value.durable.then((stored) => {
        if (!stored.ok) this.#lost(stored.error);
      });
      this.note(appended.value.frame);
    }
    const fault = this.#log.fault();
    return fault === null ? ok(undefined) : fail(fault.code, fault.details);
  }
}
