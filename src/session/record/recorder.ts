import {
  type ApertureError,
  type Clock,
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
import { maskSecrets } from "./masking.ts";
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
  readonly live: LiveSession;
  readonly open: OpenExchange;
  readonly secrets: readonly string[];
  readonly protocol: RequestCopy["protocol"];
  readonly masked: boolean;
};

/** Sessions that begin alike and are compared with a request that names none. */
const candidatesMax = 16;

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
  #counts = { requests: 0, answers: 0, gaps: 0, unread: 0 };
  #queue: Promise<void> = Promise.resolve();

  constructor(place: RecorderPlace) {
    this.#place = place;
    this.#directory = new Directory(place.store);
    const heard = (frame: Frame): void => this.#heard(frame);
    this.shelf = new Shelf({ store: place.store, clock: place.clock, heard });
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

  async #request(copy: RequestCopy): Promise<void> {
    this.#count("requests");
    const masked = copy.body !== null && maskSecrets(copy.body, copy.caller.secrets);
    const named = belongingOf(copy, null);
    const request = await this.#read(copy, named);
    if (request === null) this.#count("unread");
    const belonging = request === null ? named : belongingOf(copy, request);
    const found = await this.#sessionFor(copy, belonging, request);
    const opened = found.ok ? found.value.live.request(copy, request, belonging) : found;
    if (!found.ok || !opened.ok) {
      if (found.ok) this.shelf.forget(found.value.session);
      this.#lost(opened.ok ? null : opened.error);
      return;
    }
    this.shelf.trim();
    const { session, live } = found.value;
    const { caller, protocol } = copy;
    this.#lastByCaller.set(callerName(copy), session);
    const open = opened.value;
    this.#pending.set(copy.id, { session, live, open, secrets: caller.secrets, protocol, masked });
    this.#place.tell({ type: "request", session, exchange: open.exchange, phase: "opened" });
  }

  #answer(copy: ResponseCopy): void {
    const pending = this.#pending.get(copy.id);
    this.#pending.delete(copy.id);
    if (pending === undefined) return;
    this.#count("answers");
    const { session, live } = pending;
    const echoed = copy.body !== null && maskSecrets(copy.body, pending.secrets);
    const open = pending.masked || echoed ? { ...pending.open, problem: maskedNote } : pending.open;
    const answered = live.answer(open, copy, answerOf(pending.protocol, copy));
    if (answered.ok) {
      this.#place.tell({ type: "request", session, exchange: open.exchange, phase: "closed" });
    } else {
      this.shelf.forget(session);
      this.#lost(answered.error);
    }
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
    const best = await this.#bestFit(candidates.slice(0, candidatesMax), request);
    return best === null ? this.#begin(identity) : ok(best);
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
