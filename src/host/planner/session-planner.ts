import { type ApertureError, apertureError } from "../../base/index.ts";
import {
  asBuffer,
  type BlockNumbers,
  type BodyOverlap,
  type CommandBatch,
  type CommandResult,
  identify,
  noOverlap,
  type Pieces,
  type PlannedRequest,
  type Planner,
  type RequestMeta,
  type ResponseSummary,
  type Wishes,
} from "../../exchange/index.ts";
import {
  addAnswer,
  forgetObserved,
  isCurrentRequest,
  type LedgerStream,
  laterNumbers,
  notePassed,
  type PlanResult,
  plan,
  planRound,
  resetStream,
  withoutRefused,
  withSession,
} from "../../ledger/index.ts";
import { isCacheCold } from "../../policy/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import { BodyBufferPool } from "../../recorder/index.ts";
import { isAdmitted } from "./admission.ts";
import { CommandRounds, waitForCommands } from "./command-rounds.ts";
import { addsWithheld, applyWishes, type LiveStream } from "./live-stream.ts";
import { isObserved, LiveStreams } from "./live-streams.ts";
import { type ContextDeps, type ContextOptions, contextFor, type ShellRequest } from "./plan-context.ts";
import {
  planClientBody,
  planPlain,
  planRaw,
  planSideQuestion,
  planThreadRefusal,
} from "./plan-without-ledger.ts";
import { type InFlightRequest, noRounds, plannedRequestOf } from "./planned-request.ts";
import {
  answerTokensLeft,
  isModelRequest,
  isPassThroughWanted,
  isSeparate,
  isSideQuestion,
  overlapOf,
  type ReceivedBody,
  type Request,
  readingOf,
  readRequest,
} from "./read-request.ts";
import { StreamOpener, type StreamOpenerDeps } from "./stream-opener.ts";
import { WithheldRegistry } from "./withheld-registry.ts";

export type PlannerDeps = StreamOpenerDeps &
  ContextDeps & {
    /** The most that may be done. A header lowers it for one request, never raises it. */
    readonly mode: () => "observe" | "ask" | "auto";
    readonly isRecording: () => boolean;
    /** The recorder is behind, so lost units are better reported again later. */
    readonly isBehind: () => boolean;
    /** The owner of a subscription login agreed that its sessions are managed. */
    readonly managesLogins: () => boolean;
    /** A request was ever managed with this data directory; `noteManaged` records the first one. */
    readonly hasManaged: () => boolean;
    readonly noteManaged: () => void;
    /** Called when the upstream refused our version of a request and accepted the client's. */
    readonly noteRefused?: () => void;
    /** Executes the calls of our tools in an answer. */
    readonly runCommands: (batch: CommandBatch) => Promise<readonly CommandResult[]>;
    /** How long a round waits for its commands. */
    readonly commandMs?: number;
    readonly bodyPool?: BodyBufferPool;
  };

/**
 * Plans each request: finds its stream and decides whether the ledger renders it or the client's body is
 * sent.
 */
export class SessionPlanner implements Planner {
  readonly #deps: PlannerDeps;
  readonly #streams = new LiveStreams();
  readonly #inFlight = new Map<PlannedRequest, InFlightRequest>();
  readonly #opener: StreamOpener;
  readonly #bodyPool: BodyBufferPool;
  readonly #rounds: CommandRounds;
  readonly #withheld: WithheldRegistry;
  #queue: Promise<void> = Promise.resolve();

  constructor(deps: PlannerDeps) {
    this.#withheld = deps.withheld ?? new WithheldRegistry([]);
    this.#deps = deps;
    this.#opener = new StreamOpener({ ...deps, withheld: this.#withheld }, this.#streams);
    this.#rounds = new CommandRounds(deps);
    this.#bodyPool = deps.bodyPool ?? new BodyBufferPool({ freeMax: 64, freeBytesMax: 32 * 1024 * 1024 });
  }

  /**
   * Other requests are relayed unread, and so are all of them if none was managed and this one will not be.
   */
  needsBody(meta: RequestMeta): boolean {
    if (!isModelRequest(meta) || meta.headers["content-encoding"] !== undefined) return false;
    return !this.#mustPass(meta) || this.#deps.hasManaged();
  }

  allocateBody(length: number): Buffer {
    return this.#bodyPool.allocate(length);
  }

  plan(meta: RequestMeta, pieces: Pieces): PlannedRequest | Promise<PlannedRequest> {
    const [first] = pieces;
    const isPooled = pieces.length === 1 && first !== undefined && this.#bodyPool.has(first);
    const body = isPooled ? asBuffer(first) : Buffer.concat(pieces);
    const named = identify(meta);
    const previous = this.#streams.previousRequest(meta, named);
    // A large body without a predecessor is slow to parse: several of them must not block the thread in one
    // go.
    const isHeavy = previous === null && body.length > heavyBytesMin;
    const planBody = () => this.#planBody({ meta, body, previous, named });
    return isHeavy ? this.#enqueue(planBody) : planBody();
  }

  #planBody(received: ReceivedBody): PlannedRequest | Promise<PlannedRequest> {
    try {
      const request = readRequest(received);
      return request === null ? this.#planUnread(received) : this.#planRequest(request);
    } catch {
      return this.#planUnread(received);
    }
  }

  #planRequest(request: Request): PlannedRequest | Promise<PlannedRequest> {
    const { meta, identity, wire, isFirst } = request;
    const live = this.#streams.find(meta, identity, wire);
    const running = live !== null && request.purpose === "turn" ? live.runningCommands : null;
    if (live !== null && running !== null)
      return waitForCommands(running, this.#deps.deadlineMs).then(() => this.#planSafely(live, request));
    if (live !== null) return this.#planSafely(live, request);
    // A side question of a stream that was dropped from memory must not be taken for its first request.
    if (isFirst && isSideQuestion(request)) return planSideQuestion(this.#withheld, request);
    if (isFirst && (this.#opener.canNumber(request) || !this.#wouldManage(request)))
      return this.#planSafely(this.#opener.openNew(request), request);
    const opening = this.#opener.openFromLog(request);
    // A new conversation has no turns to restore, so it needs no queue.
    if (isFirst) return opening.then((opened) => this.#planSafely(opened, request));
    return opening.then((opened) => this.#enqueue(() => this.#planSafely(opened, request)));
  }

  planRetry(planned: PlannedRequest, body: Uint8Array): PlannedRequest | null {
    const inFlight = this.#inFlight.get(planned);
    if (inFlight === undefined) return null;
    const { live, request } = inFlight;
    const reason = protocolOf(request.wire).refusals.reasonOf(body);
    const isEdit = inFlight.planned !== null && inFlight.planned.clearedResults !== null && reason === "edit";
    if (!isEdit && reason !== "reasoning") {
      // Anything else of ours may have been refused: the client's version is tried once. If it is accepted,
      // ours is not sent again.
      const trial = { ...noRounds, live, request, planned: null, isTrial: true } as const;
      return planned.rendering === "managed" ? this.#track(planClientBody(live, request), trial) : null;
    }
    const before = ledgerBefore(inFlight);
    if (isEdit) live.takesProviderEdits = false;
    else forgetUnits(live);
    const from = isEdit ? before : live.ledger;
    // The refusal shows that the stream is ours; the next plan is kept even if the log's answer came late.
    this.#streams.restore(request.meta, request.wire, live);
    try {
      const style = planned.rendering === "managed" ? "managed" : "plain";
      return this.#planWithLedger(live, request, { style, isCold: !isEdit, from });
    } catch {
      return null;
    }
  }

  finish(planned: PlannedRequest, response: ResponseSummary): BlockNumbers {
    const inFlight = this.#inFlight.get(planned);
    if (inFlight === undefined) return null;
    this.#inFlight.delete(planned);
    const { live, request, planned: ledgerPlan } = inFlight;
    if (inFlight.isTrial && response.status === 200) this.#stopManaging(live);
    noteFinished(live, planned, response);
    const leaf = ledgerPlan?.leaf ?? null;
    const { status, answer } = response;
    if (ledgerPlan === null || leaf === null || status !== 200 || answer === null) return null;
    const { units, usage, cleared, isWhole } = answer;
    const { clearedResults, path, after } = ledgerPlan;
    // The provider did not clear what it was asked to, so our counts are wrong: from now on we prune
    // ourselves.
    if (isWhole && clearedResults !== null && cleared !== clearedResults) live.takesProviderEdits = false;
    const changesSeq = isWhole && planned.rendering === "managed" ? (planned.sent?.wishesSeq ?? 0) : 0;
    const isSameTree = live.ledger.resets === after.resets;
    const read = { units, usage, changesSeq };
    const { stream, nodes, isKept } = addAnswer(this.#synced(live), isSameTree ? leaf : null, read);
    live.ledger = stream;
    const end = nodes.at(-1)?.index;
    const answerTokens = inFlight.answerTokens + (usage?.output ?? 0);
    // A damaged answer may have calls that cannot be read.
    if (isKept && end !== undefined && response.isComplete && isWhole)
      this.#rounds.start(planned, { ...inFlight, path, leaf, end, units, answerTokens });
    this.#streams.noteAnswer(request.meta, live, units);
    return nodes.map(({ numbered }) => numbered);
  }

  /** The log calls this whenever its wishes for a stream have changed. */
  updateWishes(wishes: Wishes): void {
    const live = this.#streams.get(wishes.streamKey);
    if (live !== null) applyWishes(live, wishes, this.#withheld.ofWishes(wishes));
  }

  errorIfUnread(meta: RequestMeta): ApertureError | null {
    const mayHold = isModelRequest(meta) && this.#withheld.mayAffect(meta, identify(meta));
    return mayHold ? apertureError("AP_WITHHELD_UNREADABLE") : null;
  }

  /** Headers, mode, missing consent or an earlier refusal demand that the request passes unmanaged. */
  #mustPass({ headers, isLogin }: RequestMeta, live: LiveStream | null = null): boolean {
    const { mode, managesLogins } = this.#deps;
    const isObserving = isPassThroughWanted(headers) || mode() === "observe" || (isLogin && !managesLogins());
    if (isObserving || live?.isPassThrough === true) return true;
    return live !== null && isObserved(live, this.#streams.inSession(live.session));
  }

  /** A body that cannot be parsed may hold withheld content; then it is refused. */
  #planUnread({ meta, body }: ReceivedBody): PlannedRequest {
    return { ...planRaw(meta, body, false), refusal: this.errorIfUnread(meta) };
  }

  /**
   * Starts one piece of work per turn of the event loop, so that sockets are served in between. The queue
   * does not wait for promises that the work returns.
   */
  #enqueue(work: () => PlannedRequest | Promise<PlannedRequest>): Promise<PlannedRequest> {
    const started = this.#queue
      .then(() => new Promise((next) => setImmediate(next)))
      .then(() => ({ planned: work() }));
    this.#queue = started.then(() => undefined);
    return started.then(({ planned }) => planned);
  }

  /** A bug of ours costs the ledger of one stream, not the client's request. */
  #planSafely(live: LiveStream, request: Request): PlannedRequest {
    try {
      return this.#planFor(live, request);
    } catch {
      const { withheld } = live.wishes;
      const hasManagedContent = live.wasManaged !== false || withheld.size > 0;
      forgetUnits(live);
      const { meta, body } = request;
      return hasManagedContent ? planPlain(live, request, withheld) : planRaw(meta, body, false);
    }
  }

  #planFor(live: LiveStream, request: Request): PlannedRequest {
    const { meta, wire, body, purpose } = request;
    const mustPass = this.#mustPass(meta, live);
    const isCold = this.#isCold(live, request);
    if (purpose === "turn") live.lastMs = this.#deps.clock.now();
    const { withheld } = live.wishes;
    if (isSeparate(request, live.lastRequest?.wire ?? null))
      return withheld.size === 0 ? planRaw(meta, body, false) : planPlain(live, request, withheld);
    if (!mustPass) this.#admit(live, request, isCold);
    if (live.isManaged && !mustPass) {
      if (wire.isStoredAtProvider) return planThreadRefusal(request);
      this.#opener.requestNumbers(live, request);
      return this.#planWithLedger(live, request, { style: "managed", isCold });
    }
    // Only the log knows when the user sets a mode again.
    if (live.isPassThrough) this.#opener.requestWishes(live, request);
    const { isBound } = protocolOf(wire).traits.model(wire.model);
    if ((live.wasManaged === true && isBound) || withheld.size > 0)
      return this.#planWithLedger(live, request, { style: "plain", isCold });
    const mayBeManaged = live.wasManaged !== false || !live.isLookedUp;
    const raw = planRaw(meta, body, isBound && (mayBeManaged || !mustPass));
    live.ledger = notePassed(live.ledger);
    const planned: PlannedRequest = {
      ...raw,
      received: readingOf(request),
      overlap: overlapOf(live, request),
    };
    this.#setLastRequest(live, request);
    return this.#track(planned, { ...noRounds, live, request, planned: null });
  }

  #isCold({ lastMs }: LiveStream, { wire }: Request): boolean {
    const { clock, pricesOf } = this.#deps;
    return lastMs > 0 && isCacheCold(wire.cacheLifetimeMs, clock.now() - lastMs, pricesOf(wire.model));
  }

  /** Decides with a turn whether a stream that was only observed is managed from now on. */
  #admit(live: LiveStream, request: Request, isCold: boolean): void {
    if (live.isManaged || request.purpose !== "turn" || live.wasManaged === "unknown") return;
    live.isManaged = this.#isAdmitted(request, isCold);
    const isObservedOnly = live.wasManaged === false && live.ledger.numbers.session === null;
    if (live.isManaged && isObservedOnly) live.ledger = forgetObserved(live.ledger);
  }

  /** A conversation that begins with this request would be managed. */
  #wouldManage(request: Request): boolean {
    const isTurn = request.purpose === "turn" && !this.#mustPass(request.meta);
    return isTurn && this.#isAdmitted(request, false);
  }

  #isAdmitted({ meta, wire, identity, purpose }: Request, isCold: boolean): boolean {
    return isAdmitted({
      request: wire,
      client: identity.client,
      purpose,
      isSessionNamed: meta.headers["x-aperture-session"] !== undefined,
      isRecording: this.#deps.isRecording(),
      isCold,
    });
  }

  #planWithLedger(live: LiveStream, request: Request, options: PlanOptions): PlannedRequest {
    const before = this.#synced(live, options.from);
    const input = this.#withContext(live, request, options);
    const result = plan(before, input, live.wishes);
    if (options.style === "managed") this.#noteManaged(live);
    const overlap = overlapOf(live, request);
    const planned = this.#keepPlan(input, { ...noRounds, live, before, result, overlap });
    this.#setLastRequest(live, request);
    return planned;
  }

  /**
   * The answer called our tools alone: plans the round that sends their results for the same client request.
   */
  async planRound(planned: PlannedRequest): Promise<PlannedRequest | null> {
    const round = this.#rounds.take(planned);
    await round?.done;
    // A ledger that was reset meanwhile cannot continue the answer.
    if (round === null || round.live.ledger.resets !== round.resets) return null;
    const { live, request, path, end, rounds, firstRoundMs, answerTokens } = round;
    // The user withheld content or changed the mode meanwhile: the answer ends here.
    const hasNewWithheld = addsWithheld(round.withheld, live.wishes.withheld);
    if (hasNewWithheld || this.#mustPass(request.meta, live)) return null;
    const answerTokensMax = answerTokensLeft(request, answerTokens);
    if (answerTokensMax === null) return null;
    try {
      const before = this.#synced(live);
      const input = this.#withContext(live, request, { style: "managed", isCold: false, answerTokensMax });
      const result = planRound(before, { ...input, path, end }, live.wishes);
      const made = { live, before, rounds: rounds + 1, firstRoundMs, answerTokens, overlap: noOverlap };
      return result === null ? null : this.#keepPlan(input, { ...made, result });
    } catch {
      forgetUnits(live);
      return null;
    }
  }

  /** Keeps the new ledger, and what is needed to read the answer or to plan again. */
  #keepPlan(
    request: ShellRequest,
    { before, result, overlap, ...rounds }: Omit<InFlightRequest, "request" | "planned"> & KeptPlan,
  ): PlannedRequest {
    const { live } = rounds;
    const { stream: after, plan: made } = result;
    const { report, path, clearedResults } = made;
    live.ledger = after;
    live.isUnnumbered ||= report.fresh.some((unit) => unit.clientIndex !== null && unit.numbered === null);
    const planned = plannedRequestOf(request, made, { live, overlap, isRound: rounds.rounds > 0 });
    const leaf = report.isTurn ? made.leaf : null;
    return this.#track(planned, {
      ...rounds,
      request,
      planned: { before, after, leaf, path, clearedResults },
    });
  }

  /** Adds to a request what the ledger needs besides. A full report makes good for what the log has lost. */
  #withContext(live: LiveStream, request: Request, options: PlanOptions): ShellRequest {
    const recordVersion = this.#deps.recordVersionOf(live.key);
    const isLost = live.recordVersion !== recordVersion && request.purpose === "turn";
    const isFullReport = isLost && !this.#deps.isBehind();
    if (isFullReport) live.recordVersion = recordVersion;
    return {
      ...request,
      isLost,
      context: contextFor(live, request, { ...options, ...this.#deps, isFullReport }),
    };
  }

  /** The ledger of a stream with the newest numbers of its session: another stream may have claimed some. */
  #synced({ ledger, session }: LiveStream, from: LedgerStream = ledger): LedgerStream {
    const own = from.numbers.session;
    const newest = own === null ? null : this.#streams.numbersOf(session);
    return own === null || newest === null ? from : withSession(from, laterNumbers(own, newest));
  }

  /** Also releases the memory of the body before, unless the ledger or a socket still reads it. */
  #setLastRequest(live: LiveStream, { meta: { id }, wire }: Request): void {
    const { lastRequest: last, ledger } = live;
    live.lastRequest = { id, wire, isOver: false, hasLeft: true };
    if (last === null || isCurrentRequest(ledger, last.wire)) return;
    if (last.isOver && last.hasLeft) this.#bodyPool.release(last.wire.bytes);
  }

  #track(planned: PlannedRequest, inFlight: InFlightRequest): PlannedRequest {
    this.#inFlight.set(planned, inFlight);
    inFlight.live.openRequests.set(planned, inFlight.request.wire.messageKeys);
    return planned;
  }

  #noteManaged(live: LiveStream): void {
    if (live.wasManaged === true) return;
    live.wasManaged = true;
    this.#streams.noteManaged(live);
    this.#deps.noteManaged();
  }

  /** The upstream accepts the client's version: ours is not tried again until the user sets a mode. */
  #stopManaging(live: LiveStream): void {
    live.isPassThrough = true;
    this.#deps.noteRefused?.();
  }
}

/** How to plan a request; `from` is the ledger to plan from, if it is not the present one. */
type PlanOptions = ContextOptions & { readonly from?: LedgerStream };

type KeptPlan = {
  readonly before: LedgerStream;
  readonly result: PlanResult;
  readonly overlap: BodyOverlap;
};

const heavyBytesMin = 64 * 1024;

/** The ledger before a refused request, unless others were planned or answered since. */
function ledgerBefore({ live, planned }: InFlightRequest): LedgerStream {
  return planned !== null && live.ledger === planned.after ? withoutRefused(planned) : live.ledger;
}

/** Forgets every sent unit: the next request is planned from scratch, without old reasoning. */
function forgetUnits(live: LiveStream): void {
  live.ledger = resetStream(live.ledger);
  live.wasManaged = true;
  live.lastRequest = null;
}

/** Notes that a request is over, so that the memory of its body may be reused. */
function noteFinished(live: LiveStream, planned: PlannedRequest, answer: ResponseSummary): void {
  live.openRequests.delete(planned);
  const { lastRequest: last, openRequests } = live;
  if (last?.id !== planned.requestId) return;
  const isOver = ![...openRequests.keys()].some(({ requestId }) => requestId === last.id);
  live.lastRequest = { ...last, isOver, hasLeft: last.hasLeft && answer.isRequestFlushed };
}
