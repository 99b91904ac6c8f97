import { type ApertureError, apertureError, type Clock } from "../../base/index.ts";
import {
  asBuffer,
  type BlockNumbers,
  type CommandBatch,
  type CommandResult,
  identify,
  type Pieces,
  type PlannedRequest,
  type Planner,
  purposeOf,
  type RequestMeta,
  type ResponseSummary,
  type Wishes,
} from "../../exchange/index.ts";
import {
  type ArrivalPolicy,
  callKey,
  chooseRewrite,
  isRunStart,
  type NoteContext,
  promptCountOf,
  type RenderInput,
} from "../../ledger/index.ts";
import { findProtocol, protocolOf, type WireRequest } from "../../protocols/index.ts";
import { BodyBufferPool } from "../../recorder/index.ts";
import { type AdmissionCandidate, isAdmitted } from "./admission.ts";
import {
  type Awareness,
  applyWishes,
  noteChangesRead,
  noteContextFor,
  noteFreed,
  noteNewBlocks,
  noteSentUnits,
} from "./awareness.ts";
import { type ChoiceDeps, choiceFactsFor, isCacheCold, mayClearAtProvider } from "./choice-facts.ts";
import { CommandRounds, waitForCommands } from "./command-rounds.ts";
import { forgetObserved, type LiveStream, resetLedger, stopManaging } from "./live-stream.ts";
import { isObserved, LiveStreams } from "./live-streams.ts";
import {
  planClientBody,
  planPlain,
  planRaw,
  planSideQuestion,
  planThreadRefusal,
} from "./plan-without-ledger.ts";
import {
  hasClearAt,
  type InFlightRequest,
  notRendered,
  plannedRequestOf,
  type StreamRenderInput,
} from "./planned-request.ts";
import {
  answerTokensLeft,
  isLoneCount,
  isModelRequest,
  isPassThroughWanted,
  isSideQuestion,
  kindOf,
  overlapOf,
  type ReceivedRequest,
  renderPurposeOf,
} from "./read-request.ts";
import { isFirstRequest, StreamOpener, type StreamOpenerDeps } from "./stream-opener.ts";
import { WithheldRegistry } from "./withheld-registry.ts";

export type PlannerDeps = StreamOpenerDeps &
  Omit<ChoiceDeps, "isCold"> & {
    readonly clock: Clock;
    /** The most that may be done. A header lowers it for one request, never raises it. */
    readonly mode: () => "observe" | "ask" | "auto";
    readonly isRecording: () => boolean;
    /** The recorder is behind, so lost units are better reported again later. */
    readonly isBehind: () => boolean;
    /** The owner of a subscription's login agreed that it is managed. */
    readonly managesLogins: boolean;
    /** A request was ever managed with this data directory; `noteManaged` records the first one. */
    readonly hasManaged: () => boolean;
    readonly noteManaged: () => void;
    readonly awareness: () => Awareness;
    readonly arrivalPolicy: () => ArrivalPolicy;
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
    const previous = this.#streams.previousRequest(meta, identify(meta, null));
    // A large body without a predecessor is slow to parse: several of them must not block the thread in one
    // go.
    const isHeavy = previous === null && body.length > heavyBytesMin;
    const planBody = () => this.#planBody(meta, body, previous);
    return isHeavy ? this.#enqueue(planBody) : planBody();
  }

  #planBody(
    meta: RequestMeta,
    body: Buffer,
    previous: WireRequest | null,
  ): PlannedRequest | Promise<PlannedRequest> {
    try {
      const request = findProtocol(meta.protocol)?.read.request(body, previous) ?? null;
      if (request === null) return this.#planUnparsed(meta, body);
      const identity = identify(meta, request);
      const purpose = purposeOf({ kind: kindOf(meta) ?? "ask", identity, request });
      const received: ReceivedRequest = { meta, body, request, previous, identity, purpose };
      const stream = this.#streams.find(meta, identity, request);
      const running = stream !== null && purpose === "turn" ? stream.runningCommands : null;
      if (stream !== null && running !== null)
        return waitForCommands(running, this.#deps.deadlineMs).then(() => this.#planSafely(stream, received));
      if (stream !== null) return this.#planSafely(stream, received);
      const isFirst = isFirstRequest(received);
      // A side question of a stream that was dropped from memory must not be taken for its first request.
      if (isFirst && isSideQuestion(received)) return planSideQuestion(this.#withheld, received);
      if (isFirst && (this.#opener.canNumber(received) || !this.#wouldManage(received)))
        return this.#planSafely(this.#opener.openNew(received), received);
      const opening = this.#opener.openFromLog(received);
      // A new conversation has no turns to restore, so it needs no queue.
      if (isFirst) return opening.then((stream) => this.#planSafely(stream, received));
      return opening.then((stream) => this.#enqueue(() => this.#planSafely(stream, received)));
    } catch {
      return this.#planUnparsed(meta, body);
    }
  }

  planRetry(planned: PlannedRequest, body: Uint8Array): PlannedRequest | null {
    const inFlight = this.#inFlight.get(planned);
    if (inFlight === undefined) return null;
    const { stream, received, clearedResults } = inFlight;
    const reason = protocolOf(received.request).refusals.reasonOf(body);
    const isEdit = clearedResults !== null && reason === "edit";
    // Anything else of ours may have been refused: the client's version is tried once. If it is accepted,
    // ours is not sent again.
    const trial: InFlightRequest = { ...notRendered, stream, received, leaf: null, isTrial: true };
    if (isEdit) stream.takesProviderEdits = false;
    else if (reason === "reasoning") resetLedger(stream);
    else return planned.rendering === "managed" ? this.#track(planClientBody(stream, received), trial) : null;
    // The refusal shows that the stream is ours; the next plan is kept even if the log's answer came late.
    this.#streams.restore(received.meta, received.request, stream);
    try {
      const style = planned.rendering === "managed" ? "managed" : "plain";
      return this.#renderPlan(stream, received, {
        style,
        purpose: renderPurposeOf(received),
        isCold: !isEdit,
      });
    } catch {
      return null;
    }
  }

  finish(planned: PlannedRequest, response: ResponseSummary): BlockNumbers {
    const inFlight = this.#inFlight.get(planned);
    if (inFlight === undefined) return null;
    this.#inFlight.delete(planned);
    const { stream, received, leaf } = inFlight;
    if (inFlight.isTrial && response.status === 200) stopManaging(stream, this.#deps);
    stream.openRequests.delete(planned);
    const { lastRequest: last } = stream;
    if (last?.id === planned.requestId) {
      last.isOver = ![...stream.openRequests.keys()].some(({ requestId: request }) => request === last.id);
      last.hasLeft &&= response.isRequestFlushed;
    }
    if (leaf === null || response.status !== 200 || response.answer === null) return null;
    const { units, usage, cleared, isWhole } = response.answer;
    if (isWhole) noteChangesRead(stream, planned);
    // The provider did not clear what it was asked to, so our counts are wrong: from now on we prune
    // ourselves.
    if (isWhole && inFlight.clearedResults !== null && cleared !== inFlight.clearedResults)
      stream.takesProviderEdits = false;
    stream.countedPrompt = promptCountOf(usage, leaf) ?? stream.countedPrompt;
    const nodes = stream.ledger.addAnswer(leaf, units);
    const numbered = nodes.map((node) => node.numbered);
    noteNewBlocks(stream, numbered);
    const end = nodes.at(-1);
    const answerTokens = inFlight.answerTokens + (usage?.output ?? 0);
    // A damaged answer may have calls that cannot be read.
    if (end !== undefined && response.isComplete && isWhole)
      this.#rounds.start(planned, { ...inFlight, units, end, answerTokens });
    this.#streams.noteAnswer(received.meta, stream, units);
    return numbered;
  }

  /** The log calls this whenever its wishes for a stream have changed. */
  updateWishes(wishes: Wishes): void {
    this.#streams.update(wishes.streamKey, (stream) => applyWishes(stream, wishes, this.#withheld));
  }

  errorIfUnread(meta: RequestMeta): ApertureError | null {
    const mayHold = isModelRequest(meta) && this.#withheld.mayAffect(meta, identify(meta, null));
    return mayHold ? apertureError("AP_WITHHELD_UNREADABLE") : null;
  }

  /** Headers, mode or an earlier refusal demand that the request passes unmanaged. */
  #mustPass({ headers }: RequestMeta, stream: LiveStream | null = null): boolean {
    const isObserving = isPassThroughWanted(headers) || this.#deps.mode() === "observe";
    if (isObserving || stream?.isPassThrough === true) return true;
    return stream !== null && isObserved(stream, this.#streams.all());
  }

  /** A body that cannot be parsed may hold withheld content; then it is refused. */
  #planUnparsed(meta: RequestMeta, body: Buffer): PlannedRequest {
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
  #planSafely(stream: LiveStream, received: ReceivedRequest): PlannedRequest {
    try {
      return this.#planFor(stream, received);
    } catch {
      const { meta, body } = received;
      const hasManagedContent = stream.wasManaged !== false || stream.withheld.size > 0;
      resetLedger(stream);
      return hasManagedContent ? planPlain(stream, received) : planRaw(meta, body, false);
    }
  }

  #planFor(stream: LiveStream, received: ReceivedRequest): PlannedRequest {
    const { meta, request, body } = received;
    const purpose = renderPurposeOf(received);
    const mustPass = this.#mustPass(meta, stream);
    const isCold = isCacheCold(stream, request, this.#deps);
    if (purpose === "turn") stream.lastMs = this.#deps.clock.now();
    const last = stream.lastRequest?.request ?? null;
    const hasSameStart = last !== null && request.messageKeys[0] === last.messageKeys[0];
    const isSeparate = isSideQuestion(received) || isLoneCount(received);
    if (isSeparate && !hasSameStart)
      return stream.withheld.size === 0 ? planRaw(meta, body, false) : planPlain(stream, received);
    if (!stream.isManaged && !mustPass && purpose === "turn" && stream.wasManaged !== "unknown") {
      stream.isManaged = isAdmitted({ ...this.#candidate(received), isCold });
      if (stream.isManaged && stream.wasManaged === false && !stream.numbers.isReady) forgetObserved(stream);
    }
    if (stream.isManaged && !mustPass) {
      if (request.isStoredAtProvider) return planThreadRefusal(received);
      this.#opener.requestNumbers(stream, received);
      return this.#renderPlan(stream, received, { style: "managed", purpose, isCold });
    }
    // Only the log knows when the user sets a mode again.
    if (stream.isPassThrough) this.#opener.requestWishes(stream, received);
    const { isBound } = stream.protocol.traits.model(request.model);
    if ((stream.wasManaged === true && isBound) || stream.withheld.size > 0) {
      return this.#renderPlan(stream, received, { style: "plain", purpose, isCold });
    }
    const mayBeManaged = stream.wasManaged !== false || !stream.isLookedUp;
    const mayRetry = isBound && (mayBeManaged || !mustPass);
    stream.numbers.invalidate();
    stream.isFullyCounted = false;
    const raw = planRaw(meta, body, mayRetry);
    const planned: PlannedRequest = { ...raw, received, overlap: overlapOf(stream, received) };
    this.#setLastRequest(stream, received);
    return this.#track(planned, { stream, received, leaf: null, ...notRendered });
  }

  /** A conversation that begins with this request would be managed. */
  #wouldManage(received: ReceivedRequest): boolean {
    const isTurn = received.purpose === "turn" && !this.#mustPass(received.meta);
    return isTurn && isAdmitted({ ...this.#candidate(received), isCold: false });
  }

  #candidate({ meta, request, identity, purpose }: ReceivedRequest): Omit<AdmissionCandidate, "isCold"> {
    const isSessionNamed = meta.headers["x-aperture-session"] !== undefined;
    const needsConsent = meta.isLogin && !this.#deps.managesLogins;
    const { client } = identity;
    return { request, client, purpose, isSessionNamed, needsConsent, isRecording: this.#deps.isRecording() };
  }

  #renderPlan(stream: LiveStream, received: ReceivedRequest, choice: RenderChoice): PlannedRequest {
    const input = this.#renderInput(stream, received, choice);
    const rendered = stream.ledger.render(input);
    if (rendered.hasHeader) stream.namesSeq = stream.wishes?.seq ?? 0;
    noteFreed(stream, stream.ledger.turn, rendered.freedTokens);
    if (choice.style === "managed") this.#noteManaged(stream);
    const overlap = overlapOf(stream, received);
    this.#setLastRequest(stream, received);
    const fromLedger = plannedRequestOf({ stream, received, rendered, input });
    const planned: PlannedRequest = { ...fromLedger, overlap };
    noteSentUnits(stream, rendered.report.fresh);
    const leaf = rendered.report.isTurn ? rendered.leaf : null;
    const { path, clearedResults } = rendered;
    return this.#track(planned, { ...notRendered, stream, received, leaf, path, clearedResults });
  }

  /**
   * The answer called our tools alone: plans the round that sends their results for the same client request.
   */
  async planRound(planned: PlannedRequest): Promise<PlannedRequest | null> {
    const round = this.#rounds.take(planned);
    await round?.done;
    // A ledger that was reset meanwhile cannot continue the answer.
    if (round === null || round.stream.ledger !== round.ledger) return null;
    const { stream, received, path, end, rounds, firstRoundMs, answerTokens } = round;
    // The user withheld content or changed the mode meanwhile: the answer ends here.
    const hasNewWithheld = [...stream.withheld.keys()].some((key) => !round.withheld.has(key));
    if (hasNewWithheld || this.#mustPass(received.meta, stream)) return null;
    const tokensLeft = answerTokensLeft(received, answerTokens);
    if (tokensLeft === null) return null;
    try {
      const choice = { style: "managed", purpose: "turn", isCold: false } as const;
      const whole = this.#renderInput(stream, received, choice);
      const input: StreamRenderInput = { ...whole, answerTokensMax: tokensLeft };
      const rendered = stream.ledger.renderRound(input, { path, end });
      if (rendered === null) return null;
      const next = plannedRequestOf({ stream, received, rendered, input });
      noteSentUnits(stream, rendered.report.fresh);
      const sent = next.sent === null ? null : ({ ...next.sent, isRound: true } as const);
      const { leaf, path: sentPath, clearedResults } = rendered;
      const before = { stream, received, rounds: rounds + 1, firstRoundMs, answerTokens };
      return this.#track(
        { ...next, sent, needsAnswer: true },
        { ...before, leaf, path: sentPath, clearedResults },
      );
    } catch {
      resetLedger(stream);
      return null;
    }
  }

  #renderInput(
    stream: LiveStream,
    received: ReceivedRequest,
    { style, purpose, isCold }: RenderChoice,
  ): StreamRenderInput {
    const { meta, request } = received;
    const mayClear = hasClearAt(meta, request) || (!meta.isLogin && meta.upstream === "anthropic");
    const recordVersion = this.#deps.recordVersionOf(stream.key);
    const isLost = stream.recordVersion !== recordVersion && purpose === "turn";
    const isFullReport = isLost && !this.#deps.isBehind();
    if (isFullReport) stream.recordVersion = recordVersion;
    return {
      request,
      purpose,
      style,
      mayClear,
      mayEdit: mayClearAtProvider(stream, received, this.#deps.pricesOf),
      isCold,
      isLost,
      isFullReport,
      noteContext: this.#noteContext(stream, request),
      wishes: stream.levelWishes,
      chooseRewrite: (candidate) => {
        const rewrite = chooseRewrite(choiceFactsFor(stream, received, { isCold, ...this.#deps }), candidate);
        if (isRunStart(candidate)) stream.hasNewWishes = false;
        if (rewrite !== null) stream.isUrgent = false;
        return rewrite;
      },
      arrival: this.#deps.arrivalPolicy().arrival,
      findResult: (call) => stream.commandResults.get(callKey(call)) ?? null,
    };
  }

  #noteContext(stream: LiveStream, { model }: WireRequest): NoteContext {
    const { clock, awareness, windowOf, pricesOf } = this.#deps;
    const { read: readPrice } = pricesOf(model);
    const window = windowOf(model);
    return noteContextFor(stream, { timeMs: clock.now(), awareness: awareness(), window, readPrice });
  }

  /** Also releases the memory of the body before, unless the ledger or a socket still reads it. */
  #setLastRequest(stream: LiveStream, { meta: { id }, request }: ReceivedRequest): void {
    const { lastRequest: last, ledger } = stream;
    stream.lastRequest = { id, request, isOver: false, hasLeft: true };
    if (last === null || ledger.isCurrentRequest(last.request)) return;
    if (last.isOver && last.hasLeft) this.#bodyPool.release(last.request.bytes);
  }

  #track(planned: PlannedRequest, inFlight: InFlightRequest): PlannedRequest {
    this.#inFlight.set(planned, inFlight);
    inFlight.stream.openRequests.set(planned, inFlight.received.request.messageKeys);
    return planned;
  }

  #noteManaged(stream: LiveStream): void {
    if (stream.wasManaged === true) return;
    stream.wasManaged = true;
    this.#streams.noteManaged(stream);
    this.#deps.noteManaged();
  }
}

type RenderChoice = Pick<RenderInput, "style" | "purpose" | "isCold">;

const heavyBytesMin = 64 * 1024;
