import { apertureError, type Clock } from "../../base/index.ts";
import {
  clearAtBeta,
  ingestRequest,
  modelTraits,
  readAnswer,
  type WireRequest,
} from "../../protocols/index.ts";
import type { Answering, Asking, Desk, RememberedStream, Sending } from "../desk-port.ts";
import { asBuffer, type Pieces } from "../exchange.ts";
import type { LedgerQuestion } from "../read/questions.ts";
import { BodyMemory } from "../record/body-memory.ts";
import { decodeBody } from "../record/decode.ts";
import { belongingOf } from "../record/identify.ts";
import { isAdmitted, isBeside, lifetimeMs } from "./admission.ts";
import { type Line, openLine, startOver } from "./line.ts";
import { keyOf, Lines } from "./lines.ts";
import type { Place } from "./place.ts";
import {
  asksForLess,
  isBindingRefusal,
  isMereCount,
  likenessOf,
  purposeOf,
  questionOf,
  type Read,
  rawSending,
  withoutMemory,
} from "./read-request.ts";
import { recall } from "./remember.ts";
import type { RenderAsked } from "./rendering.ts";
import type { Rewrite } from "./rewrite.ts";

export type DeskPlace = {
  readonly clock: Clock;
  /** What may be done at most: a header lowers it for one request, never raises it. */
  readonly mode: () => "observe" | "ask" | "auto";
  /** The mark of our lines in a stream: always the same for one name, and not to be guessed. */
  readonly nonceOf: (name: string) => string;
  readonly newName: () => string;
  /** What the log knows; rejects or stays silent where it cannot be asked. */
  readonly remember: (question: LedgerQuestion) => Promise<RememberedStream | null>;
  readonly isRecording: () => boolean;
  /** Another number whenever the record may have lost something that it was told of a line. */
  readonly recordOf: (line: string) => number;
  /** Whether what was lost is better told later. */
  readonly isBehind: () => boolean;
  /** Whether a subscription's login may be managed: its owner was asked once. */
  readonly managesLogins: boolean;
  /** Whether anything was ever managed here, and the place to say that from now on it is. */
  readonly hasManaged: () => boolean;
  readonly noteManaged: () => void;
  readonly deadlineMs?: number;
  readonly memory?: BodyMemory;
};

/** How long a request waits for what the desk has forgotten. */
const usualDeadlineMs = 250;

/** What a sending belongs to, and where its answer will hang; null: nowhere. */
type Ticket = { readonly line: Line; readonly read: Read; readonly leaf: Place | null };

/** Takes requests, keeps the ledgers of live streams, and decides how each request is sent. */
export class SessionDesk implements Desk {
  readonly #place: DeskPlace;
  readonly #lines = new Lines();
  readonly #tickets = new Map<Sending, Ticket>();
  readonly #remembering = new Map<string, Promise<Line>>();
  readonly #memory: BodyMemory;
  #queue: Promise<void> = Promise.resolve();

  constructor(place: DeskPlace) {
    this.#place = place;
    this.#memory = place.memory ?? new BodyMemory({ freeMax: 64, freeBytesMax: 32 * 1024 * 1024 });
  }

  /** Bodies of other kinds, and all of them where nothing was or will be managed, pass as they come. */
  reads(asking: Asking): boolean {
    const { protocol, method, target, headers } = asking;
    if (protocol !== "anthropic" || method !== "POST" || headers["content-encoding"] !== undefined)
      return false;
    if (!/\/v1\/messages(?:\/count_tokens)?(?:\?|$)/.test(target)) return false;
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
      if (line !== null) return this.#render(line, read);
      const isFirst = !request.messages.some(({ role }) => role === "assistant");
      // A question beside a talk that was forgotten must not be taken for its beginning.
      if (isFirst && isBeside(read.belonging.client, request)) return rawSending(asking, body, false);
      if (isFirst) return this.#render(this.#open(read, isNew), read);
      return this.#remembered(read).then((found) => this.#inTurn(() => this.#render(found, read)));
    } catch {
      return this.#unread(asking, body);
    }
  }

  refused(sending: Sending, body: Uint8Array): Sending | null {
    const ticket = this.#tickets.get(sending);
    if (ticket === undefined || !isBindingRefusal(body)) return null;
    const { line, read } = ticket;
    startOver(line);
    // Now it is known whose it was, and what is sent next holds whatever the log says.
    this.#lines.keep(read.asking, read.request, line);
    try {
      const style = sending.rendering === "managed" ? "managed" : "plain";
      return this.#send(line, read, { style, purpose: purposeOf(read), isCold: true });
    } catch {
      return null;
    }
  }

  answered(sending: Sending, answer: Answering): void {
    const ticket = this.#tickets.get(sending);
    if (ticket === undefined) return;
    this.#tickets.delete(sending);
    const { line, read, leaf } = ticket;
    line.open.delete(sending);
    const { last } = line;
    if (last?.id === sending.request) {
      last.isOver = ![...line.open.keys()].some(({ request }) => request === last.id);
      last.hasLeft &&= answer.hasLeft;
    }
    if (leaf === null || answer.status !== 200 || answer.body === null) return;
    const plain = decodeBody(Buffer.concat(answer.body), answer.contentEncoding);
    // Words and calls are taken from the client's copy; only reasoning has to be known before it comes back.
    if (plain === null || (line.talkName === null && !mayReason(plain))) return;
    const { units } = readAnswer(plain, answer.contentType);
    line.ledger.heard(leaf, units);
    this.#lines.noteAnswer(read.asking, line, units);
  }

  /** Content the user does not want sent any more, in one stream. */
  withhold(key: string, withheld: ReadonlyMap<string, Uint8Array>): void {
    this.#lines.change(key, (line) => {
      line.withheld = withheld;
      line.ledger.withhold(withheld);
    });
  }

  /** Other words for some of what a stream has sent, from its next turn on. */
  rewrite(key: string, rewrite: Rewrite): void {
    this.#lines.change(key, ({ ledger }) => ledger.rewrite(rewrite));
  }

  #isLowered({ headers }: Asking): boolean {
    return asksForLess(headers) || this.#place.mode() === "observe";
  }

  /** Nobody knows what is in it, so where anything is withheld it does not leave. */
  #unread(asking: Asking, body: Buffer): Sending {
    const sending = rawSending(asking, body, false);
    return this.#lines.withhold()
      ? { ...sending, refusal: apertureError("AP_WITHHELD_UNREADABLE") }
      : sending;
  }

  #open({ asking, request, belonging }: Read, known: Known): Line {
    const talkName = belonging.sessionKey === null ? (known.talkName ?? this.#place.newName()) : null;
    const key = keyOf(asking, { ...belonging, sessionKey: belonging.sessionKey ?? talkName });
    const { wasManaged } = known;
    // A talk without a name is told by what the model said in it, so one without answers is new.
    const isFirst = !request.messages.some(({ role }) => role === "assistant");
    const isAsked = known.isAsked || (talkName !== null && isFirst);
    const [nonce, record] = [this.#place.nonceOf(key), this.#place.recordOf(key)];
    const line = openLine({ key, talkName, nonce, wasManaged, isAsked, record });
    this.#lines.add(asking, request, line);
    return line;
  }

  /** One in each turn of the loop, so that others are heard in between. What it waits for holds up nobody. */
  #inTurn(work: () => Sending | Promise<Sending>): Promise<Sending> {
    const begun = this.#queue
      .then(() => new Promise((next) => setImmediate(next)))
      .then(() => ({ done: work() }));
    this.#queue = begun.then(() => undefined);
    return begun.then(({ done }) => done);
  }

  /** Requests of a stream that was forgotten wait for the same answer, and none asks again before it came. */
  #remembered(read: Read): Promise<Line> {
    const { asking, belonging, request } = read;
    const key = keyOf(asking, belonging);
    const talk = belonging.sessionKey === null ? [asking.caller.credential, ...request.talk] : [];
    const name = [key, ...talk].join(" ");
    const known = this.#remembering.get(name);
    if (known !== undefined) return known;
    const asked = this.#place.remember(questionOf(read));
    const line = this.#lineFor(read, asked);
    this.#remembering.set(name, line);
    void Promise.allSettled([asked, line]).then(() => this.#remembering.delete(name));
    return line;
  }

  /** What comes too late for one request serves the next, unless something was sent meanwhile. */
  async #lineFor(read: Read, asked: Promise<RememberedStream | null>): Promise<Line> {
    const answer = await within(this.#place.deadlineMs ?? usualDeadlineMs, asked);
    if (answer !== "late") return this.#recalled(read, answer);
    const isOurs = this.#lines.wasManaged(keyOf(read.asking, read.belonging));
    const unsure = this.#open(read, { ...isNew, wasManaged: isOurs ? true : "unknown" });
    this.#lines.forget(unsure);
    const serve = (late: RememberedStream | null): void => {
      if (!this.#lines.has(unsure)) this.#recalled(read, late);
    };
    asked.then(serve, () => undefined);
    return unsure;
  }

  #recalled(read: Read, stream: RememberedStream | null): Line {
    const isOurs = this.#lines.wasManaged(keyOf(read.asking, read.belonging));
    const { wasManaged, talkName } = stream ?? { wasManaged: isOurs, talkName: null };
    // A history that nobody knows may be one whose record was lost.
    const line = this.#open(read, { wasManaged, talkName, isAsked: stream !== null });
    try {
      if (stream !== null) recall(line, stream);
    } catch {
      // A memory that makes no sense is none.
      startOver(line);
    }
    return line;
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
    const isLowered = this.#isLowered(asking);
    const isCold = this.#isCold(line, request);
    if (purpose === "turn") line.lastMs = this.#place.clock.now();
    const hasShared = line.last !== null && request.talk[0] === line.last.request.talk[0];
    const isApart = isBeside(read.belonging.client, request) || isMereCount(purpose, request);
    if (isApart && !hasShared)
      return line.withheld.size === 0 ? rawSending(asking, body, false) : withoutMemory(line, read);
    if (!line.isManaged && !isLowered && purpose === "turn" && line.wasManaged !== "unknown") {
      line.isManaged = isAdmitted({ ...this.#candidate(read), isCold });
    }
    const mayManage = line.isManaged && !isLowered && line.ledger.canManage({ request, isCold });
    if (mayManage) return this.#send(line, read, { style: "managed", purpose, isCold });
    const isBound = modelTraits(request.model).isBound;
    if ((line.wasManaged === true && isBound) || line.withheld.size > 0) {
      return this.#send(line, read, { style: "plain", purpose, isCold });
    }
    const mayBeOurs = line.wasManaged !== false || !line.isAsked;
    const mayRetry = isBound && (mayBeOurs || !isLowered);
    const sending = { ...rawSending(asking, body, mayRetry), likeness: likenessOf(line, read) };
    this.#follow(line, read);
    return this.#issue(sending, { line, read, leaf: null });
  }

  #candidate({ asking, request, belonging: { client } }: Read) {
    const isAsked = asking.headers["x-aperture-session"] !== undefined;
    const needsConsent = asking.isLogin && !this.#place.managesLogins;
    return { request, client, isAsked, needsConsent, isRecording: this.#place.isRecording() };
  }

  #isCold({ lastMs }: Line, request: WireRequest): boolean {
    const idleMs = this.#place.clock.now() - lastMs;
    return lastMs > 0 && idleMs > shortestLifetimeMs && idleMs > lifetimeMs(request);
  }

  #send(line: Line, read: Read, way: Way): Sending {
    const { asking, request, body } = read;
    const { style } = way;
    const hasBeta = asking.headers["anthropic-beta"]?.includes(clearAtBeta) === true;
    const mayClear = hasBeta || (!asking.isLogin && asking.upstream === "anthropic");
    const record = this.#place.recordOf(line.key);
    const { purpose, isCold } = way;
    const isLost = line.record !== record && purpose === "turn";
    const reportsAll = isLost && !this.#place.isBehind();
    if (reportsAll) line.record = record;
    const rendered = line.ledger.render({ request, purpose, style, mayClear, isCold, reportsAll });
    if (style === "managed") this.#noteManaged(line);
    const likeness = likenessOf(line, read);
    this.#follow(line, read);
    const isSmall = rendered.length <= onePieceBytesMax;
    const pieces = isSmall ? [Buffer.concat(rendered.pieces)] : rendered.pieces;
    const { length, report } = rendered;
    const { leaf, isTurn, epoch } = report;
    // What follows something that was lost means nothing by itself.
    const told = isLost && !reportsAll ? { fresh: [], body: [] } : { fresh: report.fresh, body: pieces };
    const sent = { rendering: style, talkName: line.talkName, leaf, isTurn, length, epoch, ...told };
    const sending: Sending = {
      request: asking.id,
      rendering: style,
      pieces,
      length,
      betas: rendered.usesClearing && !hasBeta ? [clearAtBeta] : [],
      mayRetry: true,
      sent,
      clientBody: body,
      likeness,
      refusal: null,
      strips: null,
    };
    return this.#issue(sending, { line, read, leaf: isTurn ? rendered.leaf : null });
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

type Known = {
  readonly wasManaged: boolean | "unknown";
  readonly talkName: string | null;
  readonly isAsked: boolean;
};
const isNew: Known = { wasManaged: false, talkName: null, isAsked: false };

type Way = Pick<RenderAsked, "style" | "purpose" | "isCold">;

const shortestLifetimeMs = 5 * 60_000;

const heavyBytesMin = 64 * 1024;

/** Many small pieces cost more to send than one copy of them. */
const onePieceBytesMax = 64 * 1024;

function mayReason(body: Uint8Array): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.length).includes("thinking");
}

function within<T>(ms: number, promise: Promise<T>): Promise<T | "late"> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve("late"), ms);
    promise.then(resolve, () => resolve("late")).finally(() => clearTimeout(timer));
  });
}
