import { type ApertureError, type ContentHash, fail, must, ok, type Result, turnOf } from "../base/index.ts";
import type {
  Cause,
  Delta,
  Exchange,
  ExchangeEnd,
  Frame,
  SessionIdentity,
  TurnOutcome,
} from "../engine/frames/index.ts";
import { type ChangeContext, nextStepId, type Proposal, type State } from "../engine/index.ts";
import { exchangeOf, exchangesOf, now, streamOf, turnNow } from "../engine/moment/index.ts";
import type { RequestCopy, ResponseCopy, Wishes } from "../exchange/index.ts";
import { type FrameAttachments, type IdSharingState, newStream, type SessionLog } from "../log/index.ts";
import type { WireAnswer, WireRequest } from "../protocols/index.ts";
import type { ExchangeSide, Store } from "../store/index.ts";
import {
  applyPolicy,
  expireStreamApprovals,
  makeRenditions,
  markRestatedMemories,
  type StreamWriter,
} from "./after-turn.ts";
import type { BodyBufferPool } from "./body-buffer-pool.ts";
import { fitWithLastTurn } from "./conversation-fit.ts";
import { DeltaDraft } from "./delta-draft.ts";
import { emptyEnd, exchangeEnd, openedExchange, turnOfExchange, turnOutcome } from "./exchange-record.ts";
import { LastBodies, type RequestBody, responseRecord, type UpstreamBodyInput } from "./last-bodies.ts";
import {
  type AppendInput,
  type IdentifiedRequest,
  newRecordedStream,
  noteSentTurn,
  type OpenExchange,
  type RecordedStream,
  recordingCause,
} from "./recorded-stream.ts";
import type { RefusedSummary } from "./renditions.ts";
import { type RequestRelation, relateRequest } from "./request-relation.ts";
import type { SearchedBody } from "./secret-masking.ts";
import { indexStreams, recallConversations, StreamIndex } from "./stream-index.ts";
import { draftTurn, runDeltas } from "./turn-draft.ts";
import { placedUnits } from "./unit-alignment.ts";
import { WishesBuilder, type WishesOptions, type WishesTarget } from "./wishes/wishes-builder.ts";

type LiveSessionDeps = {
  readonly buffers: BodyBufferPool;
  readonly onFrame: (frame: Frame) => void;
  /** Called if a frame was accepted but could not be stored after all. */
  readonly onLost: (error: ApertureError) => void;
};

type TurnInput = {
  readonly identified: IdentifiedRequest;
  readonly request: WireRequest;
  readonly relation: RequestRelation;
  readonly stream: RecordedStream;
};

type AsideInput = {
  readonly identified: IdentifiedRequest;
  readonly role: Exchange["role"];
  readonly stream?: RecordedStream | null;
};

/** More deltas than this are split into several frames; the last one has the turn. */
const deltasPerFrame = 4_000;
const main = "main";

/**
 * One session while it is recorded: its log, and the memory that makes recognising the next request cheap. If
 * the log refuses a frame, this memory is wrong and is rebuilt from the log.
 */
export class LiveSession {
  readonly #log: SessionLog;
  readonly #streams = new Map<string, RecordedStream>();
  readonly #storedContents = new Set<ContentHash>();
  readonly #onFrame: (frame: Frame) => void;
  readonly #onLost: (error: ApertureError) => void;
  readonly #bodies: LastBodies;
  readonly #sharing: IdSharingState = { isShared: false };
  readonly #wishesBuilder = new WishesBuilder();
  readonly #writer: StreamWriter = {
    state: () => this.state(),
    append: (input) => this.#appendFrames(input),
  };
  #recallDone: Promise<void> | null = null;

  constructor(log: SessionLog, { onFrame, onLost, buffers }: LiveSessionDeps) {
    this.#log = log;
    this.#bodies = new LastBodies(log.state().session, buffers);
    this.#onFrame = onFrame;
    this.#onLost = onLost;
    this.#rebuild();
  }

  #rebuild(): void {
    const state = this.state();
    this.#streams.clear();
    this.#bodies.clear();
    this.#storedContents.clear();
    this.#recallDone = null;
    for (const [stream, index] of indexStreams(state)) {
      const { name } = must(streamOf(now(state), stream), "an index belongs to a stream");
      this.#streams.set(name, newRecordedStream(name, index, this.#sharing));
    }
    if (exchangesOf(now(state)).some(({ rendering }) => rendering !== "raw")) this.shareNumbering();
    for (const [, unit] of state.units.entries()) this.#storedContents.add(unit.bytes);
  }

  /** The wishes for a stream's next request; null if there is no such stream. */
  async wishes(agent: string | null, input: WishesTarget & WishesOptions): Promise<Wishes | null> {
    const stream = this.stream(agent ?? main);
    return stream === null ? null : await this.#wishesBuilder.build(this.state(), stream, input);
  }

  /** Applies policy after a turn. With policy off it only expires approvals and records references. */
  applyPolicy(agent: string | null, policy: "auto" | "off"): Result<void> {
    const stream = this.#streams.get(agent ?? main);
    const expired = stream === undefined ? ok(undefined) : expireStreamApprovals(this.#writer, stream);
    return stream === undefined || !expired.ok ? expired : applyPolicy(this.#writer, stream, policy);
  }

  /** Marks memories that the last answer repeats or contradicts. */
  async markRestatedMemories(
    agent: string | null,
    answer: string,
    store: Pick<Store, "content">,
  ): Promise<Result<void>> {
    const stream = this.#streams.get(agent ?? main);
    return stream === undefined
      ? ok(undefined)
      : await markRestatedMemories(this.#writer, stream, { answer, store });
  }

  /** Makes renditions that are due. Call it last after a turn, because it takes a while. */
  makeRenditions(agent: string | null, model: string | null): Result<readonly RefusedSummary[]> {
    const stream = this.#streams.get(agent ?? main);
    return stream === undefined ? ok([]) : makeRenditions(this.#writer, stream, model);
  }

  /** Appends a proposal of the user in the view of one stream, and returns it. */
  act(name: string, propose: (change: ChangeContext) => Proposal): Result<Proposal> {
    const stream = this.stream(name);
    if (stream === null) return fail("AP_STREAM_UNKNOWN", { stream: name });
    const state = this.state();
    const view = must(state.views.get(stream.index.view), "an index belongs to a view");
    const proposal = propose({ moment: now(state), view, actor: "user" });
    const cause: Cause = { type: "command", step: nextStepId(state), reason: "" };
    const appended = this.append({ deltas: proposal.deltas, cause, actor: "user", stream });
    return appended.ok ? ok(proposal) : appended;
  }

  /** Appends the deltas of an act, if there are any. */
  append(input: AppendInput): Result<void> {
    return input.deltas.length === 0 ? ok(undefined) : this.#appendFrames(input);
  }

  stream(name: string): RecordedStream | null {
    return this.#streams.get(name) ?? null;
  }

  /** The wishes of every stream the planner has wishes of. */
  allWishes(store: Pick<Store, "content">): Promise<readonly Wishes[]> {
    return this.#wishesBuilder.rebuildAll(this.state(), store);
  }

  /** Reports an appended frame. */
  noteFrame(frame: Frame): void {
    this.#wishesBuilder.noteFrame(frame);
    this.#onFrame(frame);
  }

  /** Call it once the planner may number blocks of this session. */
  shareNumbering(): void {
    this.#sharing.isShared = true;
  }

  state(): State {
    return this.#log.state();
  }

  /** Appends the first frame of a session, with its identity. */
  identify(identity: SessionIdentity): Result<void> {
    return this.#appendFrames({ deltas: [{ type: "session-identified", identity }], type: "session" });
  }

  /** Closes requests that were open when an earlier process ended: they will never be answered. */
  closeInterrupted(): Result<void> {
    const open = [...this.state().exchanges.entries()].filter(([, { end }]) => end === null);
    const deltas = open.flatMap(([, exchange]): Delta[] => {
      const { id } = exchange;
      const end: ExchangeEnd = { ...emptyEnd, exchange: id, outcome: "interrupted" };
      return [...this.#turnDeltas(id, "interrupted"), { type: "exchange-closed", end }];
    });
    return deltas.length === 0 ? ok(undefined) : this.#appendFrames({ deltas, type: "session" });
  }

  /**
   * Reads the client's last request of each stream, once: the units the planner sent lack some of its
   * content. If it cannot be read, the session is recognised by the sent units.
   */
  recallConversations(store: Pick<Store, "body">): Promise<void> {
    const indexes = [...this.#streams.values()].map(({ index }) => index);
    this.#recallDone ??= recallConversations(indexes, () => this.state(), store);
    return this.#recallDone;
  }

  /** Scores how well a request continues the main stream of this session; null if it does not. */
  fit(messageKeys: readonly string[], isLoose = false): number | null {
    const index = this.#streams.get(main)?.index;
    return index === undefined ? null : fitWithLastTurn({ messageKeys, index, isLoose }, this.state());
  }

  /** The last request, whose unchanged parts the next one reuses. */
  lastRequest(agent: string | null): WireRequest | null {
    return this.#streams.get(agent ?? main)?.index.last?.request ?? null;
  }

  /** The last body of a side: what the next one shares with it need not be searched for secrets again. */
  lastSearched(side: ExchangeSide, agent: string | null): SearchedBody | null {
    const stream = this.#streams.get(agent ?? main);
    return stream === undefined ? null : this.#bodies.lastSearched(side, stream.index.stream);
  }

  /** Bytes that are kept only to make the next request cheaper. */
  bodyBytes(): number {
    return this.#bodies.byteCount();
  }

  /** Drops the kept bodies. The next request is then compared and written from scratch. */
  forgetBodies(): void {
    this.#bodies.clear();
    for (const { index } of this.#streams.values()) {
      if (index.last !== null) index.last = { ...index.last, request: null };
    }
  }

  recordRequest(identified: IdentifiedRequest): Result<OpenExchange> {
    const { request, identity, purpose } = identified;
    if (request === null || purpose === null) return this.#recordAside({ identified, role: "unread" });
    if (identified.copy.sent !== null) this.shareNumbering();
    const stream = this.#streams.get(identity.agent ?? main) ?? null;
    const relation = relateRequest(this.state(), { ...identified, request, purpose }, stream);
    if (relation.role !== "turn") return this.#recordAside({ identified, role: relation.role, stream });
    const opened = stream === null ? this.#openStream(identity.agent) : ok(stream);
    if (!opened.ok) return opened;
    const turn = this.#recordTurn({ identified, request, relation, stream: opened.value });
    if (turn.ok) return turn;
    // The log refused the turn and its reserved ids, so only the bytes of the request are recorded.
    this.#rebuild();
    return this.#recordAside({ identified, role: "unread" });
  }

  recordAnswer(open: OpenExchange, copy: ResponseCopy, answer: WireAnswer | null): Result<void> {
    const { exchange } = open;
    const stream = open.streamName === null ? null : (this.#streams.get(open.streamName) ?? null);
    const units = answer?.units ?? [];
    stream?.recentAnswers.add(exchange, units);
    const deps = stream === null || open.turn === null ? null : this.#draftDeps(stream, open.turn, open);
    const draft = deps === null ? null : new DeltaDraft(deps);
    const outcome = turnOutcome(copy, answer);
    const blocks = outcome === "failed" ? [] : (draft?.addAnswer(units, copy.blockNumbers) ?? []);
    const end = exchangeEnd(open, copy, answer);
    const deltas: Delta[] = [
      ...(draft?.deltas ?? []),
      ...this.#turnDeltas(exchange, outcome, answer),
      { type: "exchange-closed", end },
    ];
    const response =
      copy.body === null ? null : responseRecord({ session: this.state().session, exchange }, copy.body);
    const contents = [...(draft?.contents ?? []), ...(response?.contents ?? [])];
    const bodies = response === null ? [] : [response.body];
    const appended = this.#appendFrames({ deltas, type: "response", stream, attached: { contents, bodies } });
    if (appended.ok) {
      draft?.updateIndex();
      stream?.sizes.noteAnswer(exchange, units, answer?.usage ?? null);
      if (stream !== null && draft !== null && open.turn !== null) {
        const references = stream.names.addAnswer(units, open.turn, blocks);
        stream.policy.addBlocks(stream.renditions.addBlocks(draft.deltas, draft.contents));
        stream.policy.noteReferences(references);
      }
      for (const { hash } of draft?.contents ?? []) this.#storedContents.add(hash);
    }
    return appended;
  }

  /** Each agent has a stream of its own, forked from the start of the main one: they share nothing. */
  #openStream(agent: string | null): Result<RecordedStream> {
    const name = agent ?? main;
    const parent = agent === null ? null : (this.#streams.get(main)?.index.stream ?? null);
    const { stream, view, deltas } = newStream(this.state(), name, parent);
    const appended = this.#appendFrames({ deltas, type: "session" });
    if (!appended.ok) return appended;
    const index = new StreamIndex(stream, view);
    const recorded = newRecordedStream(name, index, this.#sharing);
    this.#streams.set(name, recorded);
    return ok(recorded);
  }

  #recordTurn({ identified, request, relation, stream }: TurnInput): Result<OpenExchange> {
    const { copy, forms } = identified;
    const state = this.state();
    const { index } = stream;
    const current = must(streamOf(now(state), index.stream), "an index belongs to a stream");
    const before = turnNow(now(state), current);
    const turn = relation.relation === "retry" && before > 0 ? before : before + 1;
    const draft = new DeltaDraft(this.#draftDeps(stream, turn, request));
    const turnDraft = draftTurn({ draft, index, state }, request, copy.sent);
    const { leaf, path, blocks, fresh, epoch } = turnDraft;
    if (leaf === null) return this.#recordAside({ identified, role: "unread", stream });
    // Units that the previous body does not have are stored as contents of their own.
    const slices = draft.nameSlices(
      placedUnits(request, this.#bodies.sharedUnits(index.stream, request)),
      request,
    );
    const opening = { stream: index.stream, model: request.model, ...relation };
    const exchange = openedExchange(state.exchanges.size + 1, copy, opening);
    const deltas: Delta[] = [
      ...epoch,
      ...draft.deltas,
      ...runDeltas(state, index, fresh),
      { type: "exchange-opened", exchange },
      { type: "turn-sent", view: index.view, turn: turnOf(turn), leaf, exchange: exchange.id },
    ];
    const { id, stream: streamId } = exchange;
    const clientBody = { exchange: id, stream: streamId, bytes: request.bytes, request, slices, forms };
    const written = this.#writeBodies(copy, clientBody, { exchange: id, stream: streamId, draft, forms });
    const attached = { contents: [...draft.contents, ...written.contents], bodies: written.bodies };
    const appended = this.#appendFrames({ deltas, type: "request", stream, attached });
    if (!appended.ok) return appended;
    draft.updateIndex();
    for (const { hash } of draft.contents) this.#storedContents.add(hash);
    this.#wishesBuilder.noteReported(copy.sent?.wishesSeq ?? 0);
    noteSentTurn(stream, { copy, request, exchange, turn, draft: turnDraft }, this.state());
    stream.policy.addBlocks(stream.renditions.addBlocks(draft.deltas, draft.contents));
    stream.policy.noteArrivals(copy.sent);
    if (epoch.length > 0) stream.policy.noteRewrite(copy.sent);
    index.last = { exchange: exchange.id, path, blocks, messageKeys: request.messageKeys, request };
    return ok({
      exchange: exchange.id,
      streamName: stream.name,
      turn,
      model: request.model,
      protocol: request.protocol,
      problem: null,
    });
  }

  /** Records a request that is no turn: its bytes are stored, but it adds no blocks to the session. */
  #recordAside({ identified, role, stream = null }: AsideInput): Result<OpenExchange> {
    const { copy, request, forms } = identified;
    const model = request?.model ?? null;
    const streamId = role === "compaction" ? (stream?.index.stream ?? null) : null;
    const opening = { role, relation: "none", of: null, stream: streamId, model } as const;
    const exchange = openedExchange(this.state().exchanges.size + 1, copy, opening);
    const { id } = exchange;
    const { body: bytes } = copy;
    // Its units are not stored as contents, so `request` is null: the next body must not refer to them.
    const clientBody =
      bytes === null ? null : { exchange: id, stream: streamId, bytes, request: null, slices: [], forms };
    const attached = this.#writeBodies(copy, clientBody, {
      exchange: id,
      stream: streamId,
      draft: null,
      forms,
    });
    const deltas: Delta[] = [{ type: "exchange-opened", exchange }];
    const appended = this.#appendFrames({ deltas, type: "request", attached });
    if (!appended.ok) return appended;
    const problem = copy.body === null ? "its request was too large to keep" : null;
    return ok({
      exchange: exchange.id,
      streamName: stream?.name ?? null,
      turn: null,
      model,
      protocol: copy.protocol,
      problem,
    });
  }

  /** The body as the client sent it, and as it went upstream if that differs. */
  #writeBodies(
    copy: RequestCopy,
    client: RequestBody | null,
    upstream: UpstreamBodyInput,
  ): Required<FrameAttachments> {
    const received = client === null ? null : this.#bodies.writeClientBody(client);
    const sent = this.#bodies.writeUpstreamBody(copy.sent, client, upstream);
    return {
      contents: [...(received?.contents ?? []), ...sent.contents],
      bodies: [...(received?.bodies ?? []), ...sent.bodies],
    };
  }

  #draftDeps(
    { index, ids }: RecordedStream,
    turn: number,
    { model, protocol }: Pick<WireRequest, "model" | "protocol">,
  ) {
    const stored = this.#storedContents;
    return { state: this.state(), index, ids, stored, turn: turnOf(turn), model, protocol };
  }

  /** The delta that ends the turn of an exchange, if it has one. */
  #turnDeltas(exchange: number, outcome: TurnOutcome, answer: WireAnswer | null = null): readonly Delta[] {
    const { stream: streamId, role } = must(
      exchangeOf(now(this.state()), exchange),
      "the exchange was opened",
    );
    const stream = [...this.#streams.values()].find(({ index }) => index.stream === streamId);
    if (role !== "turn" || stream === undefined) return [];
    const view = must(this.state().views.get(stream.index.view), "an index belongs to a view");
    const sent = turnOfExchange(view, exchange);
    if (sent === null) return [];
    return [{ type: "turn-answered", view: view.id, turn: sent.turn, outcome, usage: answer?.usage ?? null }];
  }

  #appendFrames({ deltas, stream: recorded = null, attached = {}, ...source }: AppendInput): Result<void> {
    const { actor, cause } = "cause" in source ? source : recordingCause(source.type);
    const stream = recorded?.index.stream ?? null;
    for (let at = 0; at < deltas.length; at += deltasPerFrame) {
      const isLast = at + deltasPerFrame >= deltas.length;
      const entry = { stream, actor, cause, deltas: deltas.slice(at, at + deltasPerFrame) } as const;
      // Contents go with the first frame: no frame may refer to a content that is not stored yet.
      const appended = this.#log.append(entry, attachmentsFor(attached, at === 0, isLast));
      if (!appended.ok) return appended;
      void appended.value.durable.then((stored) => {
        if (!stored.ok) this.#onLost(stored.error);
      });
      this.noteFrame(appended.value.frame);
    }
    const fault = this.#log.fault();
    return fault === null ? ok(undefined) : fail(fault.code, fault.details);
  }
}

/** If an append takes several frames, contents go with the first and bodies with the last. */
function attachmentsFor(attached: FrameAttachments, isFirst: boolean, isLast: boolean): FrameAttachments {
  if (isFirst && isLast) return attached;
  const { contents, bodies } = attached;
  if (isFirst) return contents === undefined ? {} : { contents };
  return isLast && bodies !== undefined ? { bodies } : {};
}
