import { type ApertureError, apertureError, type Clock } from "../../base/index.ts";
import {
  answerLeft,
  ingestRequest,
  isEditRefusal,
  modelTraits,
  readAnswer,
  type WireRequest,
} from "../../protocols/index.ts";
import type {
  Answering,
  AnswerNumbers,
  Asking,
  Briefing,
  CommandResult,
  CommandsAsked,
  Desk,
  Sending,
} from "../desk-port.ts";
import { asBuffer, type Pieces } from "../exchange.ts";
import { BodyMemory } from "../record/body-memory.ts";
import { decodeBody } from "../record/decode.ts";
import { belongingOf } from "../record/identify.ts";
import { isAdmitted, isBeside } from "./admission.ts";
import type { Handling } from "./arrivals.ts";
import { type Awareness, noteFreed, noteFresh, noteRecent, sayingFor, takeBriefing } from "./awareness.ts";
import { type ChoicePlace, choiceFacts, isColdFor, mayEdit } from "./choice-facts.ts";
import { type Choosing, chooseRewriting, isRunStart, type Rewriting } from "./choosing.ts";
import { countedBy } from "./counted.ts";
import { forgetWatched, type Line, standDown, startOver, withholdIn } from "./line.ts";
import { isFirst, LineOpener, type OpenerPlace } from "./line-opener.ts";
import { Lines } from "./lines.ts";
import { type CallPlace, callKey } from "./own-calls.ts";
import {
  asksForLess,
  clientsOwn,
  isBindingRefusal,
  isMereCount,
  isTalk,
  likenessOf,
  purposeOf,
  type Read,
  rawSending,
  withoutMemory,
} from "./read-request.ts";
import type { RenderAsked } from "./rendering.ts";
import type { Rewrite } from "./rewrite.ts";
import { Rounds, soonDone } from "./rounds.ts";
import type { Saying } from "./saying.ts";
import { hasClearAt, sendingOf } from "./sending.ts";
import { isObserved } from "./session-mode.ts";
import { asksForThread, threadRefused } from "./threads.ts";
import { type Ticket, unread } from "./ticket.ts";
import { noteTold } from "./told.ts";
import { besideUnknown } from "./unknown-talk.ts";
import { Withholding } from "./withholding.ts";

export type DeskPlace = OpenerPlace &
  Omit<ChoicePlace, "isCold"> & {
    readonly clock: Clock;
    /** What may be done at most: a header lowers it for one request, never raises it. */
    readonly mode: () => "observe" | "ask" | "auto";
    readonly isRecording: () => boolean;
    /** Whether what was lost is better told later. */
    readonly isBehind: () => boolean;
    /** Whether a subscription's login may be managed: its owner was asked once. */
    readonly managesLogins: boolean;
    /** Whether anything was ever managed here, and the place to say that from now on it is. */
    readonly hasManaged: () => boolean;
    readonly noteManaged: () => void;
    /** How the model is told of its context. */
    readonly awareness: () => Awareness;
    /** What is done to what is shown without anybody asking for it. */
    readonly handling: () => Handling;
    /** The upstream has refused what we made of a request, and taken what its client wrote. */
    readonly noteRefused?: () => void;
    /** Carries out what an answer has asked of our tools. */
    readonly command: (asked: CommandsAsked) => Promise<readonly CommandResult[]>;
    /** How long that is waited for. */
    readonly commandMs?: number;
    readonly memory?: BodyMemory;
  };

/** Takes requests, keeps the ledgers of live streams, and decides how each request is sent. */
export class SessionDesk implements Desk {
  readonly #place: DeskPlace;
  readonly #lines = new Lines();
  readonly #tickets = new Map<Sending, Ticket>();
  readonly #opener: LineOpener;
  readonly #memory: BodyMemory;
  readonly #rounds: Rounds;
  readonly #withholding: Withholding;
  #queue: Promise<void> = Promise.resolve();

  constructor(place: DeskPlace) {
    this.#withholding = place.withholding ?? new Withholding([]);
    this.#place = place;
    this.#opener = new LineOpener({ ...place, withholding: this.#withholding }, this.#lines);
    this.#rounds = new Rounds(place);
    this.#memory = place.memory ?? new BodyMemory({ freeMax: 64, freeBytesMax: 32 * 1024 * 1024 });
  }

  /** Bodies of other kinds, and all of them where nothing was or will be managed, pass as they come. */
  reads(asking: Asking): boolean {
    if (!isTalk(asking) || asking.headers["content-encoding"] !== undefined) return false;
    return !this.#isLowered(asking) || this.#place.hasManaged();
  }

  room(length: number): Buffer {
    return this.#memory.room(length);
  }

  take(asking: Asking, pieces: Pieces): Sending | Promise<Sending> {
    const [first] = pieces;
    const isRoom = pieces.length === 1 && first !== undefined && this.#memory.has(first);
    const body = isRoom ? asBuffer(first) : Buffer.concat(pieces);
    const previous = this.#lines.previous(asking, belongingOf(asking, null));
    // A large body that nothing is known of takes a while: many of them must not be looked into in one go.
    const isHeavy = previous === null && body.length > heavyBytesMin;
    return isHeavy ? this.#inTurn(() => this.#take(asking, body, null)) : this.#take(asking, body, previous);
  }

  #take(asking: Asking, body: Buffer, previous: WireRequest | null): Sending | Promise<Sending> {
    try {
      const request = ingestRequest(body, previous);
      if (request === null) return this.#unread(asking, body);
      const read = { asking, body, request, previous, belonging: belongingOf(asking, request) };
      const line = this.#lines.find(asking, read.belonging, request);
      const doing = line !== null && purposeOf(read) === "turn" ? line.doing : null;
      if (line !== null && doing !== null)
        return soonDone(doing, this.#place.deadlineMs).then(() => this.#render(line, read));
      if (line !== null) return this.#render(line, read);
      const begins = isFirst(read);
      // A question beside a talk that was forgotten must not be taken for its beginning.
      if (begins && isBeside(read.belonging.client, request)) return besideUnknown(this.#withholding, read);
      if (begins && (this.#opener.canNumber(read) || !this.#isWanted(read)))
        return this.#render(this.#opener.begin(read), read);
      const found = this.#opener.remembered(read);
      // A talk that begins has nothing that would have to be put back first.
      if (begins) return found.then((line) => this.#render(line, read));
      return found.then((line) => this.#inTurn(() => this.#render(line, read)));
    } catch {
      return this.#unread(asking, body);
    }
  }

  refused(sending: Sending, body: Uint8Array): Sending | null {
    const ticket = this.#tickets.get(sending);
    if (ticket === undefined) return null;
    const { line, read, cleared } = ticket;
    const isEdit = cleared !== null && isEditRefusal(body);
    // Something else of ours may be what was refused: the client's own words, once, and ours no more.
    const trial = { ...unread, line, read, leaf: null, isTrial: true } as const;
    if (isEdit) line.takesEdits = false;
    else if (isBindingRefusal(body)) startOver(line);
    else return sending.rendering === "managed" ? this.#issue(clientsOwn(line, read), trial) : null;
    // Now it is known whose it was, and what is sent next holds whatever the log says.
    this.#lines.keep(read.asking, read.request, line);
    try {
      const style = sending.rendering === "managed" ? "managed" : "plain";
      return this.#send(line, read, { style, purpose: purposeOf(read), isCold: !isEdit });
    } catch {
      return null;
    }
  }

  answered(sending: Sending, answer: Answering): AnswerNumbers {
    const ticket = this.#tickets.get(sending);
    if (ticket === undefined) return null;
    this.#tickets.delete(sending);
    const { line, read, leaf } = ticket;
    if (ticket.isTrial && answer.status === 200) standDown(line, this.#place);
    line.open.delete(sending);
    const { last } = line;
    if (last?.id === sending.request) {
      last.isOver = ![...line.open.keys()].some(({ request }) => request === last.id);
      last.hasLeft &&= answer.hasLeft;
    }
    if (leaf === null || answer.status !== 200 || answer.body === null) return null;
    const plain = decodeBody(Buffer.concat(answer.body), answer.contentEncoding);
    if (plain === null) return null;
    const { units, usage, cleared, isWhole } = readAnswer(plain, answer.contentType);
    if (isWhole) noteTold(line, sending);
    // What it shows is not what we count: from now on we leave out ourselves.
    if (isWhole && ticket.cleared !== null && cleared !== ticket.cleared) line.takesEdits = false;
    line.counted = countedBy(usage, leaf) ?? line.counted;
    const places = line.ledger.heard(leaf, units);
    const numbered = places.map((place) => place.numbered);
    noteRecent(line, numbered);
    const end = places.at(-1);
    const spent = ticket.spent + (usage?.output ?? 0);
    // Of an answer that was damaged on its way nobody knows what it asked for.
    if (end !== undefined && answer.isComplete && isWhole)
      this.#rounds.begin(sending, { ...ticket, units, end, spent });
    this.#lines.noteAnswer(read.asking, line, units);
    return numbered;
  }

  /** What the log says of a stream now. */
  brief(briefing: Briefing): void {
    this.#lines.change(briefing.line, (line) => takeBriefing(line, briefing, this.#withholding));
  }

  /** Content the user does not want sent any more, in one stream. */
  withhold(key: string, withheld: ReadonlySet<string>): void {
    this.#lines.change(key, (line) => withholdIn(line, this.#withholding.printed(withheld)));
  }

  unread(asking: Asking): ApertureError | null {
    const mayHold = isTalk(asking) && this.#withholding.mayConcern(asking, belongingOf(asking, null));
    return mayHold ? apertureError("AP_WITHHELD_UNREADABLE") : null;
  }

  /** Other words for some of what a stream has sent, from its next turn on. */
  rewrite(key: string, rewrite: Rewrite): void {
    this.#lines.change(key, ({ ledger }) => ledger.rewrite(rewrite));
  }

  #isLowered({ headers }: Asking, line: Line | null = null): boolean {
    const isAsked = asksForLess(headers) || this.#place.mode() === "observe" || line?.isStoodDown === true;
    return isAsked || (line !== null && isObserved(line, this.#lines.all()));
  }

  /** Nobody knows what is in it, so where anything is withheld it does not leave. */
  #unread(asking: Asking, body: Buffer): Sending {
    return { ...rawSending(asking, body, false), refusal: this.unread(asking) };
  }

  /** One in each turn of the loop, so that others are heard in between. What it waits for holds up nobody. */
  #inTurn(work: () => Sending | Promise<Sending>): Promise<Sending> {
    const begun = this.#queue
      .then(() => new Promise((next) => setImmediate(next)))
      .then(() => ({ done: work() }));
    this.#queue = begun.then(() => undefined);
    return begun.then(({ done }) => done);
  }

  /** A mistake of ours costs the memory of one stream, not the client's request. */
  #render(line: Line, read: Read): Sending {
    try {
      return this.#decide(line, read);
    } catch {
      const { asking, body } = read;
      const isOurs = line.wasManaged !== false || line.withheld.size > 0;
      startOver(line);
      return isOurs ? withoutMemory(line, read) : rawSending(asking, body, false);
    }
  }

  #decide(line: Line, read: Read): Sending {
    const { asking, request, body } = read;
    const purpose = purposeOf(read);
    const isLowered = this.#isLowered(asking, line);
    const isCold = isColdFor(line, request, this.#place);
    if (purpose === "turn") line.lastMs = this.#place.clock.now();
    const hasShared = line.last !== null && request.talk[0] === line.last.request.talk[0];
    const isApart = isBeside(read.belonging.client, request) || isMereCount(purpose, request);
    if (isApart && !hasShared)
      return line.withheld.size === 0 ? rawSending(asking, body, false) : withoutMemory(line, read);
    if (!line.isManaged && !isLowered && purpose === "turn" && line.wasManaged !== "unknown") {
      line.isManaged = isAdmitted({ ...this.#candidate(read), isCold });
      if (line.isManaged && line.wasManaged === false && !line.numbers.isReady) forgetWatched(line);
    }
    if (line.isManaged && !isLowered) {
      if (asksForThread(request)) return threadRefused(read);
      this.#opener.learnNumbers(line, read);
      return this.#send(line, read, { style: "managed", purpose, isCold });
    }
    // Somebody has to tell when the user wants it otherwise.
    if (line.isStoodDown) this.#opener.acquaint(line, read);
    const isBound = modelTraits(request.model).isBound;
    if ((line.wasManaged === true && isBound) || line.withheld.size > 0) {
      return this.#send(line, read, { style: "plain", purpose, isCold });
    }
    const mayBeOurs = line.wasManaged !== false || !line.isAsked;
    const mayRetry = isBound && (mayBeOurs || !isLowered);
    line.numbers.doubt();
    line.countsAll = false;
    const sending = { ...rawSending(asking, body, mayRetry), likeness: likenessOf(line, read) };
    this.#follow(line, read);
    return this.#issue(sending, { line, read, leaf: null, ...unread });
  }

  /** Whether a talk that begins with this request would be managed. */
  #isWanted(read: Read): boolean {
    const isTurn = purposeOf(read) === "turn" && !this.#isLowered(read.asking);
    return isTurn && isAdmitted({ ...this.#candidate(read), isCold: false });
  }

  #candidate({ asking, request, belonging: { client } }: Read) {
    const isAsked = asking.headers["x-aperture-session"] !== undefined;
    const needsConsent = asking.isLogin && !this.#place.managesLogins;
    return { request, client, isAsked, needsConsent, isRecording: this.#place.isRecording() };
  }

  #send(line: Line, read: Read, way: Way): Sending {
    const asked = this.#asked(line, read, way);
    const rendered = line.ledger.render(asked);
    if (rendered.hasHeader) line.namedSeq = line.briefing?.seq ?? 0;
    noteFreed(line, line.ledger.turn, rendered.freed);
    if (way.style === "managed") this.#noteManaged(line);
    const likeness = likenessOf(line, read);
    this.#follow(line, read);
    const sending = { ...sendingOf({ line, read, rendered, asked }), likeness };
    noteFresh(line, rendered.report.fresh);
    const leaf = rendered.report.isTurn ? rendered.leaf : null;
    const { path, cleared } = rendered;
    return this.#issue(sending, { ...unread, line, read, leaf, path, cleared });
  }

  /** The answer called our tools alone: what is sent once they are done, for the same request. */
  async goOn(sending: Sending): Promise<Sending | null> {
    const round = this.#rounds.take(sending);
    await round?.done;
    // What was forgotten in the meantime is not gone on with.
    if (round === null || round.line.ledger !== round.ledger) return null;
    const { line, read, path, end, rounds, sinceMs, spent } = round;
    // What the user has said meanwhile holds: the answer ends here.
    const isWithheld = [...line.withheld.keys()].some((key) => !round.withheld.has(key));
    if (isWithheld || this.#isLowered(read.asking, line)) return null;
    const left = answerLeft(read.request, spent);
    if (left === null) return null;
    try {
      const way = { style: "managed", purpose: "turn", isCold: false } as const;
      const asked = { ...this.#asked(line, read, way), answerMax: left };
      const rendered = line.ledger.goOn(asked, { path, end });
      if (rendered === null) return null;
      const next = sendingOf({ line, read, rendered, asked });
      noteFresh(line, rendered.report.fresh);
      const sent = next.sent === null ? null : ({ ...next.sent, isRound: true } as const);
      const { leaf, path: sentPath, cleared } = rendered;
      const before = { line, read, rounds: rounds + 1, sinceMs, spent };
      return this.#issue({ ...next, sent }, { ...before, leaf, path: sentPath, cleared });
    } catch {
      startOver(line);
      return null;
    }
  }

  #asked(
    line: Line,
    read: Read,
    { style, purpose, isCold }: Way,
  ): RenderAsked & { readonly isLost: boolean } {
    const { asking, request } = read;
    const mayClear = hasClearAt(asking) || (!asking.isLogin && asking.upstream === "anthropic");
    const record = this.#place.recordOf(line.key);
    const isLost = line.record !== record && purpose === "turn";
    const reportsAll = isLost && !this.#place.isBehind();
    if (reportsAll) line.record = record;
    const saying = this.#saying(line, request);
    const { arrival } = this.#place.handling();
    const choose = (choosing: Choosing): Rewriting | null => {
      const chosen = chooseRewriting(choiceFacts(line, read, { isCold, ...this.#place }), choosing);
      if (isRunStart(choosing)) line.hasNews = false;
      if (chosen !== null) line.isUrged = false;
      return chosen;
    };
    const resultOf = (call: CallPlace) => line.results.get(callKey(call)) ?? null;
    const edits = { mayEdit: mayEdit(line, read, this.#place.pricesOf) };
    const asked = { request, purpose, style, mayClear, ...edits, isCold, reportsAll, saying, isLost };
    return { ...asked, wanted: line.wanted, choose, arrival, resultOf };
  }

  #saying(line: Line, { model }: WireRequest): Saying {
    const { clock, awareness, windowOf, pricesOf } = this.#place;
    const [window, { read }] = [windowOf(model), pricesOf(model)];
    return sayingFor(line, { timeMs: clock.now(), awareness: awareness(), window, read });
  }

  /** The request is the last one now. Nobody looks at the body before, unless something is on its way. */
  #follow(line: Line, { asking: { id }, request }: Read): void {
    const { last, ledger } = line;
    line.last = { id, request, isOver: false, hasLeft: true };
    if (last === null || ledger.holds(last.request)) return;
    if (last.isOver && last.hasLeft) this.#memory.giveBack(last.request.bytes);
  }

  #issue(sending: Sending, ticket: Ticket): Sending {
    this.#tickets.set(sending, ticket);
    ticket.line.open.set(sending, ticket.read.request.talk);
    return sending;
  }

  #noteManaged(line: Line): void {
    if (line.wasManaged === true) return;
    line.wasManaged = true;
    this.#lines.noteManaged(line);
    this.#place.noteManaged();
  }
}

type Way = Pick<RenderAsked, "style" | "purpose" | "isCold">;

const heavyBytesMin = 64 * 1024;
