import { ok, type Result, type SessionId } from "../../base/index.ts";
import type { Identity } from "../../engine/index.ts";
import type { WireAnswer, WireRequest } from "../../protocols/index.ts";
import type { Store } from "../../store/index.ts";
import type { RequestCopy } from "../exchange.ts";
import type { LedgerQuestion } from "../read/questions.ts";
import { Directory } from "./directory.ts";
import { isAnswer } from "./fit.ts";
import type { Belonging } from "./identify.ts";
import type { LiveSession } from "./live-session.ts";
import { credentialKey, keyOf, startKey } from "./session-key.ts";
import type { Shelf } from "./shelf.ts";

/** A session a talk goes on with: how far it is known there, and whether its last answer was given there. */
type Fitted = { readonly found: Found; readonly fit: number; readonly isSure: boolean };
export type Found = { readonly session: SessionId; readonly live: LiveSession };

export type FinderPlace = {
  readonly store: Store;
  readonly shelf: Shelf;
  readonly newSession: () => SessionId;
};

/** Sessions that begin alike and are compared with a request that names none. */
const candidatesMax = 16;
/** Sessions of one credential that are compared where none begins alike: a client may cut off a beginning. */
const recentMax = 4;
const answersRemembered = 10_000;

/** Finds the session a request belongs to, or begins one. */
export class Finder {
  readonly #place: FinderPlace;
  readonly #directory: Directory;
  readonly #lastByCaller = new Map<string, SessionId>();
  /** Which session an answer was given in, by caller and key: what tells talks apart that begin alike. */
  readonly #byAnswer = new Map<string, SessionId>();

  constructor(place: FinderPlace) {
    this.#place = place;
    this.#directory = new Directory(place.store);
  }

  /** Resolves when it knows which sessions there are; everything else waits for that by itself. */
  ready(): Promise<void> {
    return this.#directory.load();
  }

  /** A session it is likely to belong to, as far as can be told before its body is read. */
  async likely(copy: RequestCopy, named: Belonging): Promise<SessionId | null> {
    const name = named.sessionKey ?? copy.sent?.talkName ?? null;
    if (name === null) return this.#lastByCaller.get(callerName(copy)) ?? null;
    return await this.#directory.named(whoseOf(copy, named), name);
  }

  async session(
    copy: RequestCopy,
    belonging: Belonging,
    request: WireRequest | null,
  ): Promise<Result<Found>> {
    const { credential } = copy.caller;
    const { sessionKey } = belonging;
    const talkName = copy.sent?.talkName ?? null;
    const first = request?.talk[0];
    const key = keyOf({ credential, protocol: copy.protocol, sessionKey, talkName, first });
    const { owner, upstream, client } = whoseOf(copy, belonging);
    const identity = { owner, upstream, client, key, project: belonging.project };
    const name = sessionKey ?? talkName;
    const known = name === null ? null : await this.#directory.named(identity, name);
    if (known !== null) return this.#open(known);
    if (sessionKey !== null) return this.#begin(identity);
    if (first === undefined) {
      const [rest] = talkName === null ? await this.#directory.find(identity, key) : [];
      return rest === undefined ? this.#begin(identity) : this.#open(rest);
    }
    const talk = request?.talk ?? [];
    const best = await this.#bestFit(await this.#alike({ ...identity, credential }, talk), talk);
    if (best === null || this.#isOther(best, talkName)) return this.#begin(identity);
    // A talk that was only watched so far, or that the ledger has forgotten, goes on under its new name.
    if (talkName !== null) this.#directory.call(identity, best.found.session, talkName);
    return ok(best.found);
  }

  /** The session a question means, with what the ledger called it; null where there is none. */
  async asked(question: LedgerQuestion): Promise<Asked | null> {
    const { sessionKey, talk, credential } = question;
    if (sessionKey !== null) {
      const session = await this.#directory.named(question, sessionKey);
      return session === null ? null : { session, talkName: null };
    }
    const alike = await this.#alike(question, talk);
    const recent = await this.#directory.find(question, credentialKey(credential));
    const best =
      (await this.#bestFit(alike, talk)) ??
      (await this.#bestFit(recent.slice(0, recentMax), talk)) ??
      // Whoever asks finds out by itself how far it goes on, so that a last answer in other words may pass.
      (await this.#bestFit(alike, talk, true));
    if (best === null) return null;
    const { session } = best.found;
    return { session, talkName: this.#directory.talkName(session) };
  }

  /** It is not there any more: what belongs to it begins anew. */
  async remove(session: SessionId): Promise<void> {
    await this.#directory.load();
    this.#directory.remove(session);
    for (const known of [this.#lastByCaller, this.#byAnswer]) {
      for (const [key, id] of known) if (id === session) known.delete(key);
    }
  }

  /** What is known once a request has been recorded, and once its answer has. */
  noteRequest(copy: RequestCopy, session: SessionId): void {
    this.#lastByCaller.set(callerName(copy), session);
  }

  noteAnswer({ caller }: RequestCopy, session: SessionId, answer: WireAnswer | null): void {
    const said = answer?.units.at(-1);
    if (said === undefined) return;
    this.#byAnswer.set(`${caller.credential} ${said.unit.key}`, session);
    const [oldest] = this.#byAnswer.keys();
    if (this.#byAnswer.size > answersRemembered && oldest !== undefined) this.#byAnswer.delete(oldest);
  }

  /** Those that begin alike, the one whose answer the talk repeats last before all others. */
  async #alike(whose: Whose, talk: readonly string[]): Promise<readonly SessionId[]> {
    const [first] = talk;
    if (first === undefined) return [];
    const candidates = await this.#directory.find(whose, startKey(whose.credential, first));
    const said = talk.findLast(isAnswer);
    const answered = said === undefined ? undefined : this.#byAnswer.get(`${whose.credential} ${said}`);
    const likely = [...candidates.filter((id) => id === answered), ...candidates.slice(0, candidatesMax)];
    return [...new Set(likely)];
  }

  /** What the ledger calls something else is something else, unless it repeats what was answered there. */
  #isOther({ found, isSure }: Fitted, talkName: string | null): boolean {
    return talkName !== null && !isSure && this.#directory.talkName(found.session) !== null;
  }

  async #bestFit(
    candidates: readonly SessionId[],
    talk: readonly string[],
    isLoose = false,
  ): Promise<Fitted | null> {
    const answered = lastAnswerStart(talk);
    let best: Fitted | null = null;
    for (const session of candidates) {
      const found = await this.#open(session);
      const fit = found.ok ? found.value.live.fit(talk, isLoose) : null;
      if (!found.ok || fit === null || fit <= (best?.fit ?? 0)) continue;
      best = { found: found.value, fit, isSure: answered !== null && fit > answered };
      // Where the last answer was given nobody else knows more of the talk.
      if (best.isSure) break;
    }
    return best;
  }

  async #open(session: SessionId): Promise<Result<Found>> {
    const live = await this.#place.shelf.live(session);
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
}

/** Where the last thing the model said begins; null where it said nothing yet. */
function lastAnswerStart(talk: readonly string[]): number | null {
  const end = talk.findLastIndex(isAnswer);
  if (end === -1) return null;
  return talk.slice(0, end).findLastIndex((key) => !isAnswer(key)) + 1;
}

export type Asked = { readonly session: SessionId; readonly talkName: string | null };

type Whose = Pick<LedgerQuestion, "owner" | "upstream" | "client" | "credential">;

function whoseOf({ caller, upstream }: RequestCopy, { client }: Belonging): Omit<Whose, "credential"> {
  return { owner: caller.owner, upstream, client };
}

function callerName({ caller, upstream, protocol }: RequestCopy): string {
  return `${caller.credential} ${upstream} ${protocol}`;
}
