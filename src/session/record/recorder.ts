import {
  type ApertureError,
  type Clock,
  hashContent,
  ok,
  type Result,
  type SessionId,
  sha256Hex,
} from "../../base/index.ts";
import type { Frame, Identity } from "../../engine/index.ts";
import { ingestRequest, readAnswer, type WireAnswer, type WireRequest } from "../../protocols/index.ts";
import type { Store } from "../../store/index.ts";
import type { RequestCopy, ResponseCopy } from "../exchange.ts";
import type { EngineEvent } from "../read/events.ts";
import { frameEvent } from "../read/events.ts";
import { decodeBody } from "./decode.ts";
import { Directory } from "./directory.ts";
import { type Belonging, belongingOf } from "./identify.ts";
import type { LiveSession, OpenExchange } from "./live-session.ts";
import { maskSecrets, maskText, secretForms } from "./masking.ts";
import { hasOpenExchange, Shelf } from "./shelf.ts";

export type RecorderPlace = {
  readonly store: Store;
  readonly clock: Clock;
  readonly newSession: () => SessionId;
  readonly tell: (event: EngineEvent) => void;
};

/** What became of the copies it was given. */
export type RecorderCounts = {
  readonly requests: number;
  readonly answers: number;
  /** Exchanges that could not be written down, for whatever reason. */
  readonly gaps: number;
  readonly unread: number;
};

type Pending = {
  readonly session: SessionId;
  readonly open: OpenExchange;
  /** Everything that must not be written down of the answer. */
  readonly forms: readonly string[];
  readonly protocol: RequestCopy["protocol"];
  readonly masked: boolean;
  readonly caller: string;
};

/** Sessions that begin alike and are compared with a request that names none. */
const candidatesMax = 16;
const answersRemembered = 10_000;

/**
 * Turns copies of requests and answers into frames, one after the other. It runs beside the relay and never
 * holds it up; whatever goes wrong here costs a record, not an answer.
 */
export class SessionRecorder {
  readonly shelf: Shelf;
  readonly #place: RecorderPlace;
  readonly #directory: Directory;
  readonly #pending = new Map<string, Pending>();
  readonly #lastByCaller = new Map<string, SessionId>();
  /** Which session an answer was given in, by caller and key: what tells talks apart that begin alike. */
  readonly #byAnswer = new Map<string, SessionId>();
  #counts = { requests: 0, answers: 0, gaps: 0, unread: 0 };
  #queue: Promise<void> = Promise.resolve();

  constructor(place: RecorderPlace) {
    this.#place = place;
    this.#directory = new Directory(place.store);
    const heard = (frame: Frame): void => this.#heard(frame);
    const lost = (session: SessionId, error: ApertureError): void => this.#refused(session, error);
    const isBusy = (session: SessionId): boolean =>
      [...this.#pending.values()].some((pending) => pending.session === session);
    this.shelf = new Shelf({ store: place.store, clock: place.clock, heard, lost, isBusy });
  }

  /**
   * Requests that an earlier process left open are closed, so that nobody waits for them. Sessions are looked
   * at one by one, between other things.
   */
  async recover(): Promise<void> {
    const heads = await this.#place.store.sessions();
    for (const { session } of heads.ok ? heads.value : []) {
      const log = await this.shelf.log(session);
      if (log.ok && hasOpenExchange(log.value)) await this.shelf.live(session);
      await new Promise((resume) => setImmediate(resume));
    }
  }

  requested(copy: RequestCopy): Promise<void> {
    return this.#next(() => this.#request(copy));
  }

  answered(copy: ResponseCopy): Promise<void> {
    return this.#next(() => this.#answer(copy));
  }

  /** Resolves when everything given so far has been dealt with. */
  idle(): Promise<void> {
    return this.#queue;
  }

  counts(): RecorderCounts {
    return this.#counts;
  }

  /** In the order they came; one that fails does not keep the next from being tried. */
  #next(work: () => Promise<void> | void): Promise<void> {
    this.#queue = this.#queue.then(work).catch((error: unknown) => this.#lost(error));
    return this.#queue;
  }

  async #request(given: RequestCopy): Promise<void> {
    this.#count("requests");
    const forms = secretForms(given.caller.secrets);
    const { copy, masked } = withoutSecrets({ ...given, target: maskText(given.target, forms) }, forms);
    const named = belongingOf(copy, null);
    const request = await this.#read(copy, named);
    if (request === null) this.#count("unread");
    const belonging = request === null ? named : belongingOf(copy, request);
    const found = await this.#sessionFor(copy, belonging, request);
    const opened = found.ok ? found.value.live.request(copy, request, belonging) : found;
    if (!found.ok || !opened.ok) {
      const error = opened.ok ? null : opened.error;
      if (found.ok && error !== null) this.#refused(found.value.session, error);
      else this.#lost(error);
      return;
    }
    this.shelf.trim();
    const { session } = found.value;
    const { protocol } = copy;
    this.#lastByCaller.set(callerName(copy), session);
    const open = opened.value;
    this.#pending.set(copy.id, { session, open, forms, protocol, masked, caller: callerName(copy) });
    this.#place.tell({ type: "request", session, exchange: open.exchange, phase: "opened" });
  }

  async #answer(given: ResponseCopy): Promise<void> {
    const pending = this.#pending.get(given.id);
    this.#pending.delete(given.id);
    if (pending === undefined) return;
    this.#count("answers");
    const { session, forms } = pending;
    const { copy: kept, masked: isEchoed } = withoutSecrets(given, forms);
    const { answer, masked: isAssembled } = cleanAnswer(answerOf(pending.protocol, given), forms);
    // What comes together only in the answer lies in the body in pieces.
    const copy = isAssembled ? { ...kept, body: null } : kept;
    const masked = isEchoed || isAssembled;
    const open = pending.masked || masked ? { ...pending.open, problem: maskedNote } : pending.open;
    const live = await this.shelf.live(session);
    const answered = live.ok ? live.value.answer(open, copy, answer) : live;
    if (answered.ok) {
      this.#remember(pending.caller, session, answer);
      this.#place.tell({ type: "request", session, exchange: open.exchange, phase: "closed" });
    } else this.#refused(session, answered.error);
  }

  /**
   * What is in memory beside the log is no longer true. The log itself is, unless it has ended: then it is
   * read again, and answers that are still on their way are gaps.
   */
  #refused(session: SessionId, error: ApertureError): void {
    this.shelf.refresh(session);
    this.#lost(error);
  }

  /** Unchanged parts are taken over from the request before, where one is at hand. */
  async #read(copy: RequestCopy, named: Belonging): Promise<WireRequest | null> {
    if (copy.protocol !== "anthropic" || copy.body === null) return null;
    const known = await this.#known(copy, named);
    const live = known === null ? null : await this.shelf.live(known);
    const previous = live?.ok ? live.value.lastRequest(named.agent) : null;
    return ingestRequest(copy.body, previous);
  }

  async #known(copy: RequestCopy, named: Belonging): Promise<SessionId | null> {
    if (named.sessionKey === null) return this.#lastByCaller.get(callerName(copy)) ?? null;
    const [first] = await this.#directory.find(identityOf(copy, named, nameKey(named.sessionKey)));
    return first ?? null;
  }

  async #sessionFor(
    copy: RequestCopy,
    belonging: Belonging,
    request: WireRequest | null,
  ): Promise<Result<Found>> {
    const identity = identityOf(copy, belonging, keyOf(copy, belonging, request));
    const candidates = await this.#directory.find(identity);
    if (!identity.key.startsWith("talk:")) {
      const [known] = candidates;
      return known === undefined ? this.#begin(identity) : this.#open(known);
    }
    const answered = this.#answeredIn(copy, request);
    const likely = [...candidates.filter((id) => id === answered), ...candidates.slice(0, candidatesMax)];
    const best = await this.#bestFit([...new Set(likely)], request);
    return best === null ? this.#begin(identity) : ok(best);
  }

  /** The session whose answer the request repeats last. */
  #answeredIn(copy: RequestCopy, request: WireRequest | null): SessionId | null {
    const said = request?.messages.findLast(({ role }) => role === "assistant")?.units.at(-1);
    return said === undefined ? null : (this.#byAnswer.get(`${callerName(copy)} ${said.key}`) ?? null);
  }

  #remember(caller: string, session: SessionId, answer: WireAnswer | null): void {
    const said = answer?.units.at(-1);
    if (said === undefined) return;
    this.#byAnswer.set(`${caller} ${said.unit.key}`, session);
    const [oldest] = this.#byAnswer.keys();
    if (this.#byAnswer.size > answersRemembered && oldest !== undefined) this.#byAnswer.delete(oldest);
  }

  async #bestFit(candidates: readonly SessionId[], request: WireRequest | null): Promise<Found | null> {
    const talk = request === null ? [] : request.talk;
    let best: { readonly found: Found; readonly fit: number } | null = null;
    for (const session of candidates) {
      const found = await this.#open(session);
      const fit = found.ok ? found.value.live.fit(talk) : null;
      if (found.ok && fit !== null && fit > (best?.fit ?? 0)) best = { found: found.value, fit };
    }
    return best?.found ?? null;
  }

  async #open(session: SessionId): Promise<Result<Found>> {
    const live = await this.shelf.live(session);
    return live.ok ? ok({ session, live: live.value }) : live;
  }

  async #begin(identity: Identity): Promise<Result<Found>> {
    const found = await this.#open(this.#place.newSession());
    if (!found.ok) return found;
    const begun = found.value.live.begin(identity);
    if (!begun.ok) return begun;
    this.#directory.add(identity, found.value.session);
    return found;
  }

  #heard(frame: Frame): void {
    this.#place.tell(frameEvent(frame));
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

type Found = { readonly session: SessionId; readonly live: LiveSession };

const maskedNote = "a credential stood in its body and was masked in this record";

function nameKey(sessionKey: string): string {
  return `name:${sessionKey}`;
}

/**
 * A session is known by what its client calls it, else by how its talk begins, kept apart by credential. What
 * cannot be read gathers in one session per credential and protocol.
 */
function keyOf(copy: RequestCopy, { sessionKey }: Belonging, request: WireRequest | null): string {
  if (sessionKey !== null) return nameKey(sessionKey);
  const { credential } = copy.caller;
  const first = request === null ? undefined : request.talk[0];
  if (first === undefined) return `rest:${credential}:${copy.protocol}`;
  return `talk:${credential}:${sha256Hex(first).slice(0, 32)}`;
}

function identityOf(copy: RequestCopy, { client, project }: Belonging, key: string): Identity {
  return { owner: copy.caller.owner, upstream: copy.upstream, client, key, project };
}

function callerName({ caller, upstream, protocol }: RequestCopy): string {
  return `${caller.credential} ${upstream} ${protocol}`;
}

function answerOf(protocol: RequestCopy["protocol"], copy: ResponseCopy): WireAnswer | null {
  if (protocol !== "anthropic" || copy.body === null) return null;
  const { "content-type": type = "", "content-encoding": encoding = "" } = copy.headers;
  const plain = decodeBody(copy.body, encoding);
  if (plain !== null) return readAnswer(plain, type);
  const none = { units: [], usage: null, model: null, stop: null, isWhole: copy.outcome === "complete" };
  return { ...none, problem: `its encoding (${encoding.slice(0, 40)}) cannot be read` };
}

type WithBody = { readonly body: Uint8Array | null; readonly headers: Readonly<Record<string, string>> };

/** The copy as it may be written down. A compressed body that holds a secret is not kept at all. */
function withoutSecrets<C extends WithBody>(copy: C, forms: readonly string[]): Masked<C> {
  if (copy.body === null || forms.length === 0) return { copy, masked: false };
  const encoding = copy.headers["content-encoding"] ?? "";
  if (encoding === "" || encoding === "identity") return { copy, masked: maskSecrets(copy.body, forms) };
  const plain = decodeBody(copy.body, encoding);
  const isClean = plain === null || !maskSecrets(Uint8Array.from(plain), forms);
  return isClean ? { copy, masked: false } : { copy: { ...copy, body: null }, masked: true };
}
type Masked<C> = { readonly copy: C; readonly masked: boolean };

/** A secret may come together only when the pieces of an answer do. */
function cleanAnswer(answer: WireAnswer | null, forms: readonly string[]): CleanAnswer {
  if (answer === null || forms.length === 0) return { answer, masked: false };
  const clean = (text: string | null): string | null => (text === null ? null : maskText(text, forms));
  const units = answer.units.map((one) => {
    const bytes = Uint8Array.from(one.bytes);
    return maskSecrets(bytes, forms) ? { unit: { ...one.unit, hash: hashContent(bytes) }, bytes } : one;
  });
  const masked = units.some((one, at) => one !== answer.units[at]);
  return { answer: { ...answer, units, problem: clean(answer.problem), stop: clean(answer.stop) }, masked };
}
type CleanAnswer = { readonly answer: WireAnswer | null; readonly masked: boolean };
