import {
  type ApertureError,
  type Clock,
  fail,
  ok,
  type Result,
  type SessionId,
  type StepId,
} from "../../base/index.ts";
import type { Change, Frame, Proposal } from "../../engine/index.ts";
import type { WireAnswer } from "../../protocols/index.ts";
import type { DropReport, Side, Store } from "../../store/index.ts";
import { logOf } from "../command/command-log.ts";
import { carryOutCalls } from "../command/commander.ts";
import type { KeptPermissions } from "../command/kept-permissions.ts";
import type { Briefing, CommandResult, CommandsAsked, RememberedStream } from "../desk-port.ts";
import type { RequestCopy, ResponseCopy, SentReport } from "../exchange.ts";
import type { ReverseVerb } from "../read/act-rows.ts";
import { type EngineEvent, eventsOf } from "../read/events.ts";
import type { LedgerQuestion } from "../read/questions.ts";
import { rememberedStream } from "../read/remembered.ts";
import type { WithheldSession } from "../withheld-session.ts";
import { BodyMemory } from "./body-memory.ts";
import { cleanAnswer, cleanReport, type Masked, type Wanted, withoutSecrets } from "./clean-copy.ts";
import { type CopyLabel, concerns, labelOf } from "./copy-label.ts";
import { type Durable, isDurableSoon, withDurable } from "./durable.ts";
import { Finder } from "./finder.ts";
import { type Belonging, belongingOf, lineName } from "./identify.ts";
import type { LiveSession } from "./live-session.ts";
import { maskText, type Searched, secretForms } from "./masking.ts";
import { RawFit } from "./raw-fit.ts";
import { answerOf, lasting, readRequest, refusal, textsIn } from "./read-copy.ts";
import { RecentRequests } from "./recent-requests.ts";
import type { AskedRequest, OpenExchange } from "./recorded-line.ts";
import type { RecorderCounts } from "./recorder-counts.ts";
import { recoverSessions } from "./recover.ts";
import { refusedNotice } from "./refused-notice.ts";
import { removeSession } from "./remove-session.ts";
import { reverseStep } from "./reverse-step.ts";
import { Shelf } from "./shelf.ts";
import { WithheldTeller } from "./withheld-teller.ts";
import { WorkQueue } from "./work-queue.ts";

export type RecorderPlace = {
  readonly store: Store;
  readonly clock: Clock;
  readonly newSession: () => SessionId;
  readonly tell: (event: EngineEvent) => void;
  /** What the desk needs to know of a stream, after each answer in it. */
  readonly brief: (briefing: Briefing) => void;
  /** What is withheld in a session from now on, for whoever cannot wait for the log. */
  readonly withhold?: (withheld: WithheldSession) => void;
  /** Tokens a model's window holds. */
  readonly windowOf: (model: string | null) => number | null;
  /** Whether blocks are lowered by themselves; they are where nothing is said. */
  readonly policy?: PolicyMode;
  /** What the user has said for always; nothing where nothing is said. */
  readonly permissions?: KeptPermissions;
};
export type PolicyMode = "auto" | "off";

/** Gives the body of a copy when it is wanted, once. */
export type BodyOf = () => Uint8Array | null;

type Answered = AskedRequest & { readonly answer: WireAnswer | null; readonly model: string | null };

type Pending = {
  readonly session: SessionId;
  readonly open: OpenExchange;
  readonly masked: boolean;
  readonly asked: AskedRequest;
  /** Set once it was answered, where something more may be sent for it. */
  readonly isOver?: true;
};

/**
 * Turns copies of requests and answers into frames, one after the other. It runs beside the relay and never
 * holds it up; whatever goes wrong here costs a record, not an answer.
 */
export class SessionRecorder {
  readonly shelf: Shelf;
  readonly withheld: WithheldTeller;
  readonly #place: RecorderPlace;
  readonly #finder: Finder;
  readonly #memory = new BodyMemory();
  readonly #queue = new WorkQueue<CopyLabel | null>();
  readonly #recent = new RecentRequests();
  readonly #rawFit = new RawFit();
  readonly #pending = new Map<string, Pending>();
  /** Whose request it was, from when it is handed over until its answer is. */
  readonly #labels = new Map<string, CopyLabel>();
  readonly #isBusy = (session: SessionId): boolean =>
    [...this.#pending.values()].some((pending) => pending.session === session);
  #counts = { requests: 0, answers: 0, gaps: 0, unread: 0 };

  constructor(place: RecorderPlace) {
    this.#place = place;
    this.withheld = new WithheldTeller(place);
    const heard = (frame: Frame): void => this.#heard(frame);
    const lost = (session: SessionId, error: ApertureError): void => this.#refused(session, error);
    const { store, clock } = place;
    this.shelf = new Shelf({ store, clock, memory: this.#memory, heard, lost, isBusy: this.#isBusy });
    this.#finder = new Finder({ store: place.store, shelf: this.shelf, newSession: place.newSession });
  }

  /** Requests that an earlier process left open are closed. */
  recover(): Promise<void> {
    return recoverSessions(this.#care());
  }

  requested(copy: RequestCopy, bodyOf: BodyOf = () => copy.body): Promise<void> {
    const label = labelOf(copy);
    this.#labels.set(copy.id, label);
    return this.#next(label, () => this.#request(copy, bodyOf));
  }

  resent(id: string, sent: SentReport | null): Promise<void> {
    return this.#next(this.#labels.get(id) ?? null, () => this.#resend(id, sent));
  }

  answered(copy: ResponseCopy): Promise<void> {
    const label = this.#labels.get(copy.id) ?? null;
    if (!copy.goesOn) this.#labels.delete(copy.id);
    return this.#next(label, () => this.#answer(copy).finally(() => this.#recent.end(copy.id)));
  }

  /**
   * What the log knows of a stream. Copies that may be of the same session and wait to be recorded come
   * first; those of others wait.
   */
  async ledger(question: LedgerQuestion): Promise<Result<RememberedStream | null>> {
    await this.#queue.hasten((label) => label !== null && concerns(label, question));
    const asked = await this.#finder.asked(question);
    if (asked === null) return ok(null);
    const live = await this.shelf.live(asked.session);
    if (!live.ok) return live;
    // Whoever asks will number what it sends.
    live.value.share();
    const { agent } = question;
    const opened = { state: live.value.state(), store: this.#place.store };
    const remembered = await rememberedStream(opened, agent, asked.talkName);
    const line = lineName({ ...question, sessionKey: question.sessionKey ?? asked.talkName });
    const window = this.#place.windowOf(remembered.model);
    const { store } = this.#place;
    const briefing = await live.value.briefing(agent, { line, window, store, isWhole: true });
    return ok({ ...remembered, briefing });
  }

  /**
   * Does something in a session, in its turn among the copies, and tells the desk of it. Whoever asked hears
   * of it once it is on disk; the copies behind it do not wait for that.
   */
  async within<T extends object>(
    session: SessionId,
    work: (live: LiveSession) => Result<T> | Promise<Result<T>>,
  ): Promise<Result<T & Durable>> {
    let durable = Promise.resolve(true);
    const done = await this.#inTurn(async () => {
      const [log, live] = [await this.shelf.log(session), await this.shelf.live(session)];
      const before = live.ok ? live.value.state().seq : 0;
      const worked = live.ok ? await work(live.value) : live;
      if (log.ok && log.value.state().seq > before) durable = isDurableSoon(log.value);
      const { store, brief } = this.#place;
      if (live.ok) await this.withheld.changed(live.value.state());
      for (const briefing of live.ok ? await live.value.briefings(store) : []) brief(briefing);
      return worked;
    });
    return done.ok ? ok({ ...done.value, durable: await durable }) : done;
  }

  /** Erases a session, in its turn among the copies. */
  remove(session: SessionId): Promise<Result<DropReport>> {
    return this.#inTurn(() => removeSession(this.#care(), session));
  }

  /** Carries out what a user does in a stream. */
  act(session: SessionId, stream: string, propose: (change: Change) => Proposal) {
    return this.within(session, (live) => live.act(stream, propose));
  }

  /** Takes back a step, or takes it up again, as the user. */
  reverse(session: SessionId, verb: ReverseVerb, step: StepId): Promise<Result<Durable>> {
    return this.within(session, async (live) => {
      const log = await this.shelf.log(session);
      const lost = (error: ApertureError): void => this.#refused(session, error);
      return log.ok ? await reverseStep({ log: log.value, live, lost }, verb, step) : log;
    });
  }

  /** Carries out what an answer asks of our tools, once the answer itself is recorded. */
  async command(asked: CommandsAsked): Promise<Result<readonly CommandResult[]>> {
    await this.#queue.idle();
    const found = this.#recent.get(asked.request);
    if (found === undefined) return fail("AP_REQUEST_UNKNOWN", { request: asked.request });
    const { answered, session, agent, model } = found;
    await answered;
    const done = await this.within(session, async (live) => {
      const line = live.line(agent ?? "main");
      if (line === null) return fail("AP_REQUEST_UNKNOWN", { request: asked.request });
      const commanding = { ...asked, live: logOf(live, line), line, actor: "model", model } as const;
      return ok({ results: await carryOutCalls(this.#place, commanding, asked) });
    });
    if (!done.ok) return done;
    const { results, ...held } = done.value;
    return ok(results.map((result) => ({ ...result, text: withDurable(result.text, held) })));
  }

  /** Lets go of what can be read again, between two things that are recorded. */
  shed(): Promise<void> {
    return this.#next(null, async () => this.shelf.shed());
  }

  /** Resolves when everything given so far has been dealt with. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  counts(): RecorderCounts {
    return this.#counts;
  }

  /** In the order they came; one that fails does not keep the next from being tried. */
  #next(label: CopyLabel | null, work: () => Promise<void>): Promise<void> {
    return this.#queue.add(label, () => work().catch((error: unknown) => this.#lost(error)));
  }

  /** For what concerns sessions as a whole. */
  #care() {
    const { shelf, withheld } = this;
    return { store: this.#place.store, shelf, finder: this.#finder, isBusy: this.#isBusy, withheld };
  }

  async #inTurn<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
    let done: Result<T> = fail("AP_CONTROL_FAULT", { problem: "it was not carried out", question: "act" });
    await this.#next(null, async () => {
      done = await work();
    });
    return done;
  }

  async #request(copied: RequestCopy, bodyOf: BodyOf): Promise<void> {
    this.#count("requests");
    const given = { ...copied, body: bodyOf() };
    const forms = secretForms(given.caller.secrets);
    const named = belongingOf(given, null);
    const live = await this.#likely(given, named);
    const searched = (side: Side): Searched | null => live?.searched(side, named.agent) ?? null;
    const target = maskText(given.target, forms);
    const asSent = { forms, before: searched("client-request") };
    const { copy: kept, masked: isMasked } = withoutSecrets({ ...given, target }, asSent);
    const sent = this.#cleaned(given.sent, { forms, before: searched("upstream-request") });
    const copy = { ...kept, sent: sent?.copy ?? null };
    const request = readRequest(copy, live?.lastRequest(named.agent) ?? null);
    if (request === null) this.#count("unread");
    const belonging = request === null ? named : belongingOf(copy, request);
    const found = await this.#finder.session(copy, belonging, request);
    if (!found.ok) {
      this.#lost(found.error);
      return;
    }
    const { session } = found.value;
    const masked = isMasked || sent?.masked === true;
    const asked = { copy, request, belonging, forms };
    const isOpen = await this.#open({ session, masked, asked });
    if (isOpen) this.#finder.noteRequest(copy, session);
  }

  async #open(pending: Omit<Pending, "open">): Promise<boolean> {
    const { session, asked } = pending;
    const live = await this.shelf.live(session);
    if (live.ok) await live.value.recall(this.#place.store);
    const opened = live.ok ? live.value.request(asked) : live;
    if (!opened.ok) {
      this.#refused(session, opened.error);
      return false;
    }
    this.shelf.trim();
    const open = opened.value;
    this.#pending.set(asked.copy.id, { ...pending, open, asked: lasting(asked) });
    this.#recent.begin(asked.copy.id, { session, agent: asked.belonging.agent, model: open.model });
    this.#place.tell({ type: "request", session, exchange: open.exchange, phase: "opened" });
    return true;
  }

  /** What was refused is an exchange that ended, like what was answered; what was sent then is the next. */
  async #resend(id: string, given: SentReport | null): Promise<void> {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    const { session, open, asked } = pending;
    const live = await this.shelf.live(session);
    if (!given?.isRound) {
      const closed = live.ok ? live.value.answer(open, { ...refusal, id }, null) : live;
      if (!closed.ok) {
        this.#refused(session, closed.error);
        return;
      }
      this.#place.tell({ type: "request", session, exchange: open.exchange, phase: "closed" });
    }
    const { forms } = asked;
    const before = live.ok ? live.value.searched("upstream-request", asked.belonging.agent) : null;
    const sent = this.#cleaned(given, { forms, before });
    const masked = pending.masked || sent?.masked === true;
    const again = { ...asked, copy: { ...asked.copy, sent: sent?.copy ?? null } };
    await this.#open({ session, masked, asked: again });
  }

  async #answer(given: ResponseCopy): Promise<void> {
    const pending = this.#pending.get(given.id);
    if (!given.goesOn) this.#pending.delete(given.id);
    // What was gone on with and then not was told to its end before.
    if (pending === undefined || pending.isOver) return;
    if (given.goesOn) this.#pending.set(given.id, { ...pending, isOver: true });
    this.#count("answers");
    const { session, asked } = pending;
    // Everything that must not be written down of the request must not be of the answer.
    const { forms } = asked;
    const { copy: kept, masked: isEchoed } = withoutSecrets(given, { forms, before: null });
    const { answer, masked: isAssembled } = cleanAnswer(answerOf(asked.copy.protocol, given), forms);
    // What comes together only in the answer lies in the body in pieces.
    const copy = isAssembled ? { ...kept, body: null } : kept;
    const masked = isEchoed || isAssembled;
    const open = pending.masked || masked ? { ...pending.open, problem: maskedNote } : pending.open;
    const live = await this.shelf.live(session);
    const answered = live.ok ? live.value.answer(open, copy, answer) : live;
    const whole = { ...asked, answer, model: open.model };
    if (live.ok && answered.ok && asked.copy.sent !== null) await this.#keep(live.value, whole);
    if (answered.ok) {
      this.#finder.noteAnswer(asked.copy, session, answer);
      this.#place.tell({ type: "request", session, exchange: open.exchange, phase: "closed" });
    } else this.#refused(session, answered.error);
  }

  /** What policy does after a turn, what the desk is told of it, and then what takes a while. */
  async #keep(live: LiveSession, { copy, belonging, answer, model }: Answered): Promise<void> {
    const { brief, windowOf, store, policy = "auto" } = this.#place;
    const { agent } = belonging;
    const settled = live.settle(agent, policy);
    if (!settled.ok) this.#lost(settled.error);
    const restated = await live.restate(agent, textsIn(answer), store);
    if (!restated.ok) this.#lost(restated.error);
    const goesOn = answer?.stop === "tool_use";
    const briefed = { line: copy.sent?.line ?? "", window: windowOf(model), store, isWhole: false, goesOn };
    const briefing = await live.briefing(agent, briefed);
    if (briefing !== null) brief(briefing);
    const window = windowOf(model);
    const asked = { session: live.state().session, copy, answer };
    const full = window === null ? null : this.#rawFit.notice({ ...asked, window });
    if (full !== null) this.#place.tell(full);
    const rendered = live.render(agent, model);
    if (!rendered.ok) this.#lost(rendered.error);
    else for (const refused of rendered.value) this.#place.tell(refusedNotice(live.state().session, refused));
  }

  /**
   * What is in memory beside the log is no longer true. The log itself is, unless it has ended: then it is
   * read again, and answers that are still on their way are gaps.
   */
  #refused(session: SessionId, error: ApertureError): void {
    this.shelf.refresh(session);
    this.#lost(error);
  }

  /** The session it is likely to belong to: what it had before need not be read or searched again. */
  async #likely(copy: RequestCopy, named: Belonging): Promise<LiveSession | null> {
    const known = await this.#finder.likely(copy, named);
    const live = known === null ? null : await this.shelf.live(known);
    return live?.ok ? live.value : null;
  }

  #cleaned(sent: SentReport | null, wanted: Wanted): Masked<SentReport> | null {
    return sent === null ? null : cleanReport(sent, wanted, this.#memory);
  }

  #heard(frame: Frame): void {
    this.withheld.heard(frame);
    for (const event of eventsOf(frame)) this.#place.tell(event);
  }

  #count(what: keyof RecorderCounts): void {
    this.#counts = { ...this.#counts, [what]: this.#counts[what] + 1 };
  }

  #lost(error: unknown): void {
    this.#count("gaps");
    const known = error !== null && typeof error === "object" && "code" in error;
    const { code, message } = (known ? error : { code: null, message: String(error) }) as ApertureError;
    this.#place.tell({
      type: "notice",
      session: null,
      code,
      message: `A request was not recorded: ${message}`,
    });
  }
}

const maskedNote = "a credential stood in its body and was masked in this record";
