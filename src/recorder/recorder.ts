import {
  type ApertureError,
  type Clock,
  fail,
  ok,
  type Result,
  type SessionId,
  type StepId,
} from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";
import type { ChangeContext, Proposal } from "../engine/index.ts";
import {
  identify,
  type Purpose,
  purposeOf,
  type RequestCopy,
  type RequestIdentity,
  type ResponseCopy,
  type SentRequest,
  type StreamLookup,
  type StreamRecord,
  streamKeyOf,
  type Wishes,
  type WithheldSession,
  withSessionHint,
} from "../exchange/index.ts";
import {
  type Durability,
  type EngineEvent,
  eventsOf,
  isDurableInTime,
  type ReverseVerb,
  WorkQueue,
} from "../log/index.ts";
import { findProtocol, type WireAnswer, type WireRequest } from "../protocols/index.ts";
import type { DropReport, ExchangeSide, Store } from "../store/index.ts";
import { BodyBufferPool } from "./body-buffer-pool.ts";
import type { LiveSession } from "./live-session.ts";
import {
  answerOf,
  answerText,
  type CopyLabel,
  copyLabel,
  dropSpentBodies,
  mayConcern,
  readRequestCopy,
  refusedResponse,
} from "./read-copy.ts";
import type { IdentifiedRequest, OpenExchange, RecordedStream } from "./recorded-stream.ts";
import {
  type MaskedCopy,
  maskAnswer,
  maskCopy,
  maskSentRequest,
  maskText,
  type SearchedBody,
  type SecretSearch,
  secretForms,
} from "./secret-masking.ts";
import { SessionCache } from "./session-cache.ts";
import { SessionFinder } from "./session-finder.ts";
import { recoverSessions, removeSession, reverseStep } from "./session-upkeep.ts";
import { readStreamRecord } from "./stream-record.ts";
import { RawHistoryWatch, refusedSummaryNotice } from "./user-notices.ts";
import { WithheldReporter } from "./wishes/withheld-content.ts";

export type RecorderDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly newSession: () => SessionId;
  readonly onEvent: (event: EngineEvent) => void;
  /** Receives the wishes of a stream after each answer, for the planner. */
  readonly onWishes: (wishes: Wishes) => void;
  /** Receives the withheld units of a session, for readers that cannot wait for the log. */
  readonly onWithheld?: (withheld: WithheldSession) => void;
  /** Tokens of a model's window; null if unknown. */
  readonly windowOf: (model: string | null) => number | null;
  /** With "off", policy never lowers blocks. Absent: "auto". */
  readonly policy?: PolicyMode;
};
export type PolicyMode = "auto" | "off";

/** Counts of the copies that were recorded. */
export type RecorderCounts = {
  readonly requests: number;
  readonly answers: number;
  /** Exchanges that could not be recorded. */
  readonly gaps: number;
  readonly unread: number;
};

/** A request whose answer is recorded. */
export type AnsweredRequest = {
  readonly live: LiveSession;
  readonly stream: RecordedStream;
  readonly model: string | null;
};

/** The body of a copy, and the request if it was read before. It is called once. */
export type BodySource = () => { readonly body: Uint8Array | null; readonly read: WireRequest | null };

type AnsweredTurn = IdentifiedRequest & { readonly answer: WireAnswer | null; readonly model: string | null };

type PendingRequest = {
  readonly session: SessionId;
  readonly open: OpenExchange;
  readonly isMasked: boolean;
  readonly identified: IdentifiedRequest;
  /** Set once its response is recorded, if another round may be sent for it. */
  readonly isAnswered?: true;
};

/**
 * Turns copies of requests and responses into frames, one after the other. It runs beside the relay and never
 * holds it up: a failure here loses a record, not an answer.
 */
export class SessionRecorder {
  readonly cache: SessionCache;
  readonly withheld: WithheldReporter;
  readonly #deps: RecorderDeps;
  readonly #finder: SessionFinder;
  readonly #buffers = new BodyBufferPool();
  readonly #queue = new WorkQueue<CopyLabel | null>();
  readonly #recentRequests = new RecentRequests();
  readonly #rawHistoryWatch = new RawHistoryWatch();
  readonly #pending = new Map<string, PendingRequest>();
  /** Labels of requests from their arrival until their response. */
  readonly #labels = new Map<string, CopyLabel>();
  readonly #isBusy = (session: SessionId): boolean =>
    [...this.#pending.values()].some((pending) => pending.session === session);
  #counts = { requests: 0, answers: 0, gaps: 0, unread: 0 };

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.withheld = new WithheldReporter(deps);
    const { store, clock } = deps;
    this.cache = new SessionCache({
      store,
      clock,
      buffers: this.#buffers,
      onFrame: (frame) => this.#noteFrame(frame),
      onLost: (session, error) => this.#noteRefusal(session, error),
      isBusy: this.#isBusy,
    });
    this.#finder = new SessionFinder({ store, cache: this.cache, newSession: deps.newSession });
  }

  /** Closes requests that an earlier process left open. */
  recover(): Promise<void> {
    return recoverSessions(this.#upkeepDeps());
  }

  recordRequest(copy: RequestCopy, readBody: BodySource = () => bodyIn(copy)): Promise<void> {
    const label = copyLabel(copy);
    this.#labels.set(copy.id, label);
    return this.#enqueue(label, () => this.#handleRequest(copy, readBody));
  }

  recordResend(id: string, sent: SentRequest | null): Promise<void> {
    return this.#enqueue(this.#labels.get(id) ?? null, () => this.#handleResend(id, sent));
  }

  recordResponse(copy: ResponseCopy): Promise<void> {
    const label = this.#labels.get(copy.id) ?? null;
    if (!copy.isContinued) this.#labels.delete(copy.id);
    return this.#enqueue(label, () =>
      this.#handleResponse(copy).finally(() => this.#recentRequests.end(copy.id)),
    );
  }

  /**
   * Reads a stream from the log. Copies in the queue that may belong to its session are recorded first; other
   * copies wait.
   */
  async streamRecord(lookup: StreamLookup): Promise<Result<StreamRecord | null>> {
    await this.#queue.prioritize((label) => label !== null && mayConcern(label, lookup));
    const found = await this.#finder.lookUp(lookup);
    if (found === null) return ok(null);
    const live = await this.cache.live(found.session);
    if (!live.ok) return live;
    // The planner that asks will number the blocks it sends.
    live.value.shareNumbering();
    const { agent } = lookup;
    const contents = { state: live.value.state(), store: this.#deps.store };
    const record = await readStreamRecord(contents, agent, found.generatedName);
    const streamKey = streamKeyOf({ ...lookup, sessionKey: lookup.sessionKey ?? found.generatedName });
    const window = this.#deps.windowOf(record.model);
    const { store } = this.#deps;
    const wishes = await live.value.wishes(agent, { streamKey, window, store, isWhole: true });
    return ok({ ...record, wishes });
  }

  /**
   * Runs work in a session, in its turn among the copies, and sends the new wishes. It resolves once the
   * change is on disk; later copies do not wait for that.
   */
  async inSession<T extends object>(
    session: SessionId,
    work: (live: LiveSession) => Result<T> | Promise<Result<T>>,
  ): Promise<Result<T & Durability>> {
    let durable = Promise.resolve(true);
    const done = await this.#runInTurn(async () => {
      const [log, live] = [await this.cache.log(session), await this.cache.live(session)];
      const before = live.ok ? live.value.state().seq : 0;
      const result = live.ok ? await work(live.value) : live;
      if (log.ok && log.value.state().seq > before) durable = isDurableInTime(log.value);
      const { store, onWishes } = this.#deps;
      if (live.ok) await this.withheld.reportIfChanged(live.value.state());
      for (const wishes of live.ok ? await live.value.allWishes(store) : []) onWishes(wishes);
      return result;
    });
    return done.ok ? ok({ ...done.value, durable: await durable }) : done;
  }

  /** Erases a session, in its turn among the copies. */
  removeSession(session: SessionId): Promise<Result<DropReport>> {
    return this.#runInTurn(() => removeSession(this.#upkeepDeps(), session));
  }

  /** Appends a proposal of the user in a stream. */
  act(session: SessionId, stream: string, propose: (change: ChangeContext) => Proposal) {
    return this.inSession(session, (live) => live.act(stream, propose));
  }

  /** Undoes or redoes a step for the user. */
  reverseStep(session: SessionId, verb: ReverseVerb, step: StepId): Promise<Result<Durability>> {
    return this.inSession(session, async (live) => {
      const log = await this.cache.log(session);
      const onLost = (error: ApertureError): void => this.#noteRefusal(session, error);
      return log.ok ? await reverseStep({ log: log.value, live, onLost }, verb, step) : log;
    });
  }

  /** Runs work in the stream of a request, once its response is recorded. */
  async inRequest<T extends object>(
    request: string,
    work: (request: AnsweredRequest) => Promise<T>,
  ): Promise<Result<T & Durability>> {
    await this.#queue.idle();
    const found = this.#recentRequests.get(request);
    if (found === undefined) return fail("AP_REQUEST_UNKNOWN", { request });
    const { answered, session, agent, model } = found;
    await answered;
    return this.inSession(session, async (live) => {
      const stream = live.stream(agent ?? "main");
      return stream === null
        ? fail("AP_REQUEST_UNKNOWN", { request })
        : ok(await work({ live, stream, model }));
    });
  }

  /** Drops cached sessions and bodies, in its turn among the copies. */
  freeMemory(): Promise<void> {
    return this.#enqueue(null, async () => this.cache.freeMemory());
  }

  /** Resolves when all copies so far are recorded. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  counts(): RecorderCounts {
    return this.#counts;
  }

  /** Queues work. If it fails, the next work still runs. */
  #enqueue(label: CopyLabel | null, work: () => Promise<void>): Promise<void> {
    return this.#queue.add(label, () => work().catch((error: unknown) => this.#noteGap(error)));
  }

  #upkeepDeps() {
    const { cache, withheld } = this;
    return { store: this.#deps.store, cache, finder: this.#finder, isBusy: this.#isBusy, withheld };
  }

  async #runInTurn<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
    let done: Result<T> = fail("AP_CONTROL_FAULT", { problem: "it was not carried out", question: "act" });
    await this.#enqueue(null, async () => {
      done = await work();
    });
    return done;
  }

  async #handleRequest(received: RequestCopy, readBody: BodySource): Promise<void> {
    this.#count("requests");
    const { body, read } = readBody();
    const original = { ...received, body };
    const forms = secretForms(original.caller.secrets);
    const named = received.identity ?? identify(original);
    const live = await this.#likelySession(original, named);
    const lastSearched = (side: ExchangeSide): SearchedBody | null =>
      live?.lastSearched(side, named.agent) ?? null;
    const target = maskText(original.target, forms);
    const search = { forms, before: lastSearched("client-request") };
    const { copy: maskedCopy, isMasked: isBodyMasked } = maskCopy({ ...original, target }, search);
    const sent = this.#maskSent(original.sent, { forms, before: lastSearched("upstream-request") });
    const copy = { ...maskedCopy, sent: sent?.copy ?? null };
    // A body in which a secret was masked has other bytes than those that were read.
    const request =
      (isBodyMasked ? null : read) ?? readRequestCopy(copy, live?.lastRequest(named.agent) ?? null);
    if (request === null) this.#count("unread");
    const identity = request === null ? named : withSessionHint(named, request);
    const purpose = request === null ? null : (received.purpose ?? readPurpose(copy, identity, request));
    const found = await this.#finder.findOrBegin(copy, identity, request);
    if (!found.ok) {
      this.#noteGap(found.error);
      return;
    }
    const { session } = found.value;
    const isMasked = isBodyMasked || sent?.isMasked === true;
    const identified = { copy, request, identity, purpose, forms };
    const isOpen = await this.#openExchange({ session, isMasked, identified });
    if (isOpen) this.#finder.noteRequest(copy, session);
  }

  async #openExchange(pending: Omit<PendingRequest, "open">): Promise<boolean> {
    const { session, identified } = pending;
    const live = await this.cache.live(session);
    if (live.ok) await live.value.recallConversations(this.#deps.store);
    const opened = live.ok ? live.value.recordRequest(identified) : live;
    if (!opened.ok) {
      this.#noteRefusal(session, opened.error);
      return false;
    }
    this.cache.trimBodies();
    const open = opened.value;
    this.#pending.set(identified.copy.id, { ...pending, open, identified: dropSpentBodies(identified) });
    this.#recentRequests.begin(identified.copy.id, {
      session,
      agent: identified.identity.agent,
      model: open.model,
    });
    this.#deps.onEvent({ type: "request", session, exchange: open.exchange, phase: "opened" });
    return true;
  }

  /** A refused request is recorded as an exchange that ended; the resend is the next exchange. */
  async #handleResend(id: string, next: SentRequest | null): Promise<void> {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    const { session, open, identified } = pending;
    const live = await this.cache.live(session);
    if (!next?.isRound) {
      const closed = live.ok ? live.value.recordAnswer(open, { ...refusedResponse, id }, null) : live;
      if (!closed.ok) {
        this.#noteRefusal(session, closed.error);
        return;
      }
      this.#deps.onEvent({ type: "request", session, exchange: open.exchange, phase: "closed" });
    }
    const { forms } = identified;
    const before = live.ok ? live.value.lastSearched("upstream-request", identified.identity.agent) : null;
    const sent = this.#maskSent(next, { forms, before });
    const isMasked = pending.isMasked || sent?.isMasked === true;
    const resent = { ...identified, copy: { ...identified.copy, sent: sent?.copy ?? null } };
    await this.#openExchange({ session, isMasked, identified: resent });
  }

  async #handleResponse(received: ResponseCopy): Promise<void> {
    const pending = this.#pending.get(received.id);
    if (!received.isContinued) this.#pending.delete(received.id);
    // The response of a continued request was recorded before; no other round was sent for it.
    if (pending === undefined || pending.isAnswered) return;
    if (received.isContinued) this.#pending.set(received.id, { ...pending, isAnswered: true });
    this.#count("answers");
    const { session, identified } = pending;
    // Secrets of the request must not be recorded in the response either.
    const { forms } = identified;
    const { copy: maskedCopy, isMasked: isBodyMasked } = maskCopy(received, { forms, before: null });
    const { answer, isMasked: isAnswerMasked } = maskAnswer(
      answerOf(identified.copy.protocol, received),
      forms,
    );
    // A secret that is complete only in the answer is in pieces in the body, so the body is dropped.
    const copy = isAnswerMasked ? { ...maskedCopy, body: null } : maskedCopy;
    const isMasked = pending.isMasked || isBodyMasked || isAnswerMasked;
    const open = isMasked ? { ...pending.open, problem: maskedNote } : pending.open;
    const live = await this.cache.live(session);
    const recorded = live.ok ? live.value.recordAnswer(open, copy, answer) : live;
    const turn = { ...identified, answer, model: open.model };
    if (live.ok && recorded.ok && identified.copy.sent !== null) await this.#finishTurn(live.value, turn);
    if (recorded.ok) {
      this.#finder.noteAnswer(identified.copy, session, answer);
      this.#deps.onEvent({ type: "request", session, exchange: open.exchange, phase: "closed" });
    } else this.#noteRefusal(session, recorded.error);
  }

  /** Applies policy after a turn, sends the wishes, and then makes renditions, which take a while. */
  async #finishTurn(live: LiveSession, { copy, identity, answer, model }: AnsweredTurn): Promise<void> {
    const { onWishes, windowOf, store, policy = "auto" } = this.#deps;
    const { agent } = identity;
    const applied = live.applyPolicy(agent, policy);
    if (!applied.ok) this.#noteGap(applied.error);
    const marked = await live.markRestatedMemories(agent, answerText(answer), store);
    if (!marked.ok) this.#noteGap(marked.error);
    const isRunOpen = answer?.units.some(({ unit }) => unit.part === "call") === true;
    const input = {
      streamKey: copy.sent?.streamKey ?? "",
      window: windowOf(model),
      store,
      isWhole: false,
      isRunOpen,
    };
    const wishes = await live.wishes(agent, input);
    if (wishes !== null) onWishes(wishes);
    const window = windowOf(model);
    const history = { session: live.state().session, copy, answer };
    const notice = window === null ? null : this.#rawHistoryWatch.notice({ ...history, window });
    if (notice !== null) this.#deps.onEvent(notice);
    const rendered = live.makeRenditions(agent, model);
    if (!rendered.ok) this.#noteGap(rendered.error);
    else
      for (const refused of rendered.value)
        this.#deps.onEvent(refusedSummaryNotice(live.state().session, refused));
  }

  /**
   * The log refused a frame, so the memory beside it is wrong and is rebuilt. A log that has ended is read
   * again, and responses on their way are lost.
   */
  #noteRefusal(session: SessionId, error: ApertureError): void {
    this.cache.refresh(session);
    this.#noteGap(error);
  }

  /** The probable session of a request: its last bodies need not be read or searched again. */
  async #likelySession(copy: RequestCopy, identity: RequestIdentity): Promise<LiveSession | null> {
    const session = await this.#finder.likelySession(copy, identity);
    const live = session === null ? null : await this.cache.live(session);
    return live?.ok ? live.value : null;
  }

  #maskSent(sent: SentRequest | null, search: SecretSearch): MaskedCopy<SentRequest> | null {
    return sent === null ? null : maskSentRequest(sent, search, this.#buffers);
  }

  #noteFrame(frame: Frame): void {
    this.withheld.noteFrame(frame);
    for (const event of eventsOf(frame)) this.#deps.onEvent(event);
  }

  #count(what: keyof RecorderCounts): void {
    this.#counts = { ...this.#counts, [what]: this.#counts[what] + 1 };
  }

  #noteGap(error: unknown): void {
    this.#count("gaps");
    const isKnown = error !== null && typeof error === "object" && "code" in error;
    const { code, message } = (isKnown ? error : { code: null, message: String(error) }) as ApertureError;
    this.#deps.onEvent({
      type: "notice",
      session: null,
      code,
      message: `A request was not recorded: ${message}`,
    });
  }
}

function readPurpose(
  { protocol, method, target }: RequestCopy,
  identity: RequestIdentity,
  request: WireRequest,
): Purpose {
  const kind = findProtocol(protocol)?.read.kindOf(method, target) ?? "ask";
  return purposeOf({ kind, identity, request });
}

function bodyIn({ body, read = null }: RequestCopy): ReturnType<BodySource> {
  return { body, read };
}

const maskedNote = "a credential stood in its body and was masked in this record";

/** The session, agent and model of a request. */
type RecentRequest = {
  readonly session: SessionId;
  readonly agent: string | null;
  readonly model: string | null;
};

type RecentEntry = RecentRequest & { readonly answered: Promise<void>; readonly markAnswered: () => void };

/** An answer calls our tools soon or never. */
const recentMax = 1_000;

/** Recent requests, so that calls in their answers can wait until the answer is recorded. */
class RecentRequests {
  readonly #recent = new Map<string, RecentEntry>();

  begin(id: string, request: RecentRequest): void {
    let markAnswered: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      markAnswered = resolve;
    });
    this.end(id);
    this.#recent.delete(id);
    this.#recent.set(id, { ...request, answered, markAnswered });
    const [oldest] = this.#recent.keys();
    if (this.#recent.size <= recentMax || oldest === undefined) return;
    this.end(oldest);
    this.#recent.delete(oldest);
  }

  get(id: string): Omit<RecentEntry, "markAnswered"> | undefined {
    return this.#recent.get(id);
  }

  end(id: string): void {
    this.#recent.get(id)?.markAnswered();
  }
}
