import { ok, type Result, type SessionId } from "../base/index.ts";
import type { SessionIdentity } from "../engine/frames/index.ts";
import type { RequestCopy, RequestIdentity, StreamLookup } from "../exchange/index.ts";
import { credentialKey, SessionDirectory, sessionKeyOf, startKey } from "../log/index.ts";
import type { WireAnswer, WireRequest } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";
import { isModelKey } from "./conversation-fit.ts";
import type { LiveSession } from "./live-session.ts";
import type { SessionCache } from "./session-cache.ts";

/** A session that a request continues: the score of the fit, and whether its last answer was given there. */
type SessionMatch = { readonly handle: SessionHandle; readonly fit: number; readonly isSure: boolean };
export type SessionHandle = { readonly session: SessionId; readonly live: LiveSession };

export type SessionFinderDeps = {
  readonly store: Store;
  readonly cache: SessionCache;
  readonly newSession: () => SessionId;
};

/** Number of sessions with the same start that are compared with a request that names none. */
const candidatesMax = 16;
/**
 * Number of recent sessions of a credential to compare if no start matches: a client may cut off the start.
 */
const recentMax = 4;
const answersMax = 10_000;

/** Finds the session of a request, or begins one. */
export class SessionFinder {
  readonly #deps: SessionFinderDeps;
  readonly #directory: SessionDirectory;
  readonly #lastSessionByCaller = new Map<string, SessionId>();
  /**
   * Session of each recent answer, by credential and key. Answers distinguish conversations that start alike.
   */
  readonly #sessionByAnswer = new Map<string, SessionId>();

  constructor(deps: SessionFinderDeps) {
    this.#deps = deps;
    this.#directory = new SessionDirectory(deps.store);
  }

  /** Resolves when all sessions are known. The other methods wait for that by themselves. */
  load(): Promise<void> {
    return this.#directory.load();
  }

  /** The probable session of a request whose body is not read yet. */
  async likelySession(copy: RequestCopy, identity: RequestIdentity): Promise<SessionId | null> {
    const name = identity.sessionKey ?? copy.sent?.generatedName ?? null;
    if (name === null) return this.#lastSessionByCaller.get(callerKey(copy)) ?? null;
    return await this.#directory.findByName(sessionOwnerOf(copy, identity), name);
  }

  async findOrBegin(
    copy: RequestCopy,
    identity: RequestIdentity,
    request: WireRequest | null,
  ): Promise<Result<SessionHandle>> {
    const { credential } = copy.caller;
    const { sessionKey } = identity;
    const generatedName = copy.sent?.generatedName ?? null;
    const first = request?.messageKeys[0];
    const key = sessionKeyOf({
      credential,
      protocol: copy.protocol,
      sessionKey,
      generatedName,
      first,
    });
    const { owner, upstream, client } = sessionOwnerOf(copy, identity);
    const { protocol } = copy;
    const sessionIdentity = { owner, upstream, protocol, client, key, project: identity.project };
    const name = sessionKey ?? generatedName;
    const known = name === null ? null : await this.#directory.findByName(sessionIdentity, name);
    if (known !== null) return this.#open(known);
    if (sessionKey !== null) return this.#beginSession(sessionIdentity);
    if (first === undefined) {
      const [unread] = generatedName === null ? await this.#directory.findByKey(sessionIdentity, key) : [];
      return unread === undefined ? this.#beginSession(sessionIdentity) : this.#open(unread);
    }
    const messageKeys = request?.messageKeys ?? [];
    const best = await this.#bestFit(
      await this.#candidates({ ...sessionIdentity, credential }, messageKeys),
      messageKeys,
    );
    if (best === null || this.#isOtherConversation(best, generatedName))
      return this.#beginSession(sessionIdentity);
    // A conversation that was only observed so far, or that the planner forgot, continues under its new name.
    if (generatedName !== null)
      this.#directory.setGeneratedName(sessionIdentity, best.handle.session, generatedName);
    return ok(best.handle);
  }

  /** The session that a lookup means, with its generated name; null if there is none. */
  async lookUp(lookup: StreamLookup): Promise<StreamLookupResult | null> {
    const { sessionKey, messageKeys, credential } = lookup;
    if (sessionKey !== null) {
      const session = await this.#directory.findByName(lookup, sessionKey);
      return session === null ? null : { session, generatedName: null };
    }
    const candidates = await this.#candidates(lookup, messageKeys);
    const recent = await this.#directory.findByKey(lookup, credentialKey(credential));
    const best =
      (await this.#bestFit(candidates, messageKeys)) ??
      (await this.#bestFit(recent.slice(0, recentMax), messageKeys)) ??
      // The planner checks how far the stream matches, so a loose fit is enough here.
      (await this.#bestFit(candidates, messageKeys, true));
    if (best === null) return null;
    const { session } = best.handle;
    return { session, generatedName: this.#directory.generatedName(session) };
  }

  /** Forgets a removed session. Its next request begins a new one. */
  async remove(session: SessionId): Promise<void> {
    await this.#directory.load();
    this.#directory.remove(session);
    for (const known of [this.#lastSessionByCaller, this.#sessionByAnswer]) {
      for (const [key, id] of known) if (id === session) known.delete(key);
    }
  }

  /** Call it once a request is recorded. */
  noteRequest(copy: RequestCopy, session: SessionId): void {
    this.#lastSessionByCaller.set(callerKey(copy), session);
  }

  /** Call it once an answer is recorded. */
  noteAnswer({ caller }: RequestCopy, session: SessionId, answer: WireAnswer | null): void {
    const last = answer?.units.at(-1);
    if (last === undefined) return;
    this.#sessionByAnswer.set(`${caller.credential} ${last.unit.key}`, session);
    const [oldest] = this.#sessionByAnswer.keys();
    if (this.#sessionByAnswer.size > answersMax && oldest !== undefined) this.#sessionByAnswer.delete(oldest);
  }

  /** Sessions with the same start; first the one that gave the last answer in the request. */
  async #candidates(scope: CallerScope, messageKeys: readonly string[]): Promise<readonly SessionId[]> {
    const [first] = messageKeys;
    if (first === undefined) return [];
    const alike = await this.#directory.findByKey(scope, startKey(scope.credential, first));
    const lastKey = messageKeys.findLast(isModelKey);
    const answered =
      lastKey === undefined ? undefined : this.#sessionByAnswer.get(`${scope.credential} ${lastKey}`);
    const likely = [...alike.filter((id) => id === answered), ...alike.slice(0, candidatesMax)];
    return [...new Set(likely)];
  }

  /** A conversation with another generated name is another one, unless it repeats an answer given there. */
  #isOtherConversation({ handle, isSure }: SessionMatch, generatedName: string | null): boolean {
    return generatedName !== null && !isSure && this.#directory.generatedName(handle.session) !== null;
  }

  async #bestFit(
    candidates: readonly SessionId[],
    messageKeys: readonly string[],
    isLoose = false,
  ): Promise<SessionMatch | null> {
    const answered = lastAnswerStart(messageKeys);
    let best: SessionMatch | null = null;
    for (const session of candidates) {
      const found = await this.#open(session);
      const fit = found.ok ? found.value.live.fit(messageKeys, isLoose) : null;
      if (!found.ok || fit === null || fit <= (best?.fit ?? 0)) continue;
      best = { handle: found.value, fit, isSure: answered !== null && fit > answered };
      // No session knows more of the conversation than the one that gave its last answer.
      if (best.isSure) break;
    }
    return best;
  }

  async #open(session: SessionId): Promise<Result<SessionHandle>> {
    const live = await this.#deps.cache.live(session);
    return live.ok ? ok({ session, live: live.value }) : live;
  }

  async #beginSession(identity: SessionIdentity): Promise<Result<SessionHandle>> {
    const found = await this.#open(this.#deps.newSession());
    if (!found.ok) return found;
    const identified = found.value.live.identify(identity);
    if (!identified.ok) return identified;
    this.#directory.add(identity, found.value.session);
    return found;
  }
}

/** Index of the first key of the last answer; null if there is no answer yet. */
function lastAnswerStart(messageKeys: readonly string[]): number | null {
  const end = messageKeys.findLastIndex(isModelKey);
  if (end === -1) return null;
  return messageKeys.slice(0, end).findLastIndex((key) => !isModelKey(key)) + 1;
}

export type StreamLookupResult = { readonly session: SessionId; readonly generatedName: string | null };

type CallerScope = Pick<StreamLookup, "owner" | "upstream" | "client" | "credential">;

function sessionOwnerOf(
  { caller, upstream }: RequestCopy,
  { client }: RequestIdentity,
): Omit<CallerScope, "credential"> {
  return { owner: caller.owner, upstream, client };
}

function callerKey({ caller, upstream, protocol }: RequestCopy): string {
  return `${caller.credential} ${upstream} ${protocol}`;
}
