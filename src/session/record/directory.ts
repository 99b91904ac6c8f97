import { canonicalJson, type SessionId } from "../../base/index.ts";
import type { Identity } from "../../engine/index.ts";
import type { SessionHead, Store } from "../../store/index.ts";
import { keyParts, nameKey } from "./session-key.ts";

/** Whose sessions: everything of an identity but its key. The project is a label and may change. */
export type Whose = Pick<Identity, "owner" | "upstream" | "client">;

const readsTogether = 64;
/** Than those that are listed already. */
type Age = "newer" | "older";

/** Which sessions answer to which identity, newest first. Read once from the log, then kept up to date. */
export class Directory {
  readonly #sessions = new Map<string, readonly SessionId[]>();
  readonly #talkNames = new Map<SessionId, string>();
  readonly #store: Store;
  #loading: Promise<void> | null = null;
  /** What is being read of it just now. */
  #batch: Promise<void> | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** By what it is called. The newest are known first: nobody waits for all to find one of them. */
  async named(whose: Whose, name: string): Promise<SessionId | null> {
    const find = (): SessionId | null => this.#sessions.get(nameOf(whose, nameKey(name)))?.[0] ?? null;
    void this.load();
    while (find() === null && this.#batch !== null) await this.#batch;
    return find();
  }

  /** By how the talk begins, or by whose credential it was begun with. */
  async find(whose: Whose, key: string): Promise<readonly SessionId[]> {
    await this.load();
    return this.#sessions.get(nameOf(whose, key)) ?? [];
  }

  /** Once; a store that cannot be read now may be readable later, and until then all is new. */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** What the ledger calls a session that its client does not name. */
  talkName(session: SessionId): string | null {
    return this.#talkNames.get(session) ?? null;
  }

  add(identity: Identity, session: SessionId): void {
    this.#enter(identity, session, "newer");
  }

  /** From now on the session is found by this name too. */
  call(whose: Whose, session: SessionId, talkName: string): void {
    this.#talkNames.set(session, talkName);
    this.#list(nameOf(whose, nameKey(talkName)), session, "newer");
  }

  /** Nobody is led to it any more. */
  remove(session: SessionId): void {
    for (const [name, ids] of this.#sessions) {
      if (ids.includes(session))
        this.#sessions.set(
          name,
          ids.filter((id) => id !== session),
        );
    }
    this.#talkNames.delete(session);
  }

  #enter(identity: Identity, session: SessionId, than: Age): void {
    const { start, talkName, credential } = keyParts(identity.key);
    const keys = [start, credential, talkName === null ? null : nameKey(talkName)];
    for (const key of keys) if (key !== null) this.#list(nameOf(identity, key), session, than);
    if (talkName !== null) this.#talkNames.set(session, talkName);
  }

  #list(name: string, session: SessionId, than: Age): void {
    const others = (this.#sessions.get(name) ?? []).filter((id) => id !== session);
    this.#sessions.set(name, than === "newer" ? [session, ...others] : [...others, session]);
  }

  async #load(): Promise<void> {
    const reading = this.#store.sessions();
    this.#batch = reading.then(() => undefined);
    const heads = await reading;
    const newest = heads.ok ? [...heads.value].reverse() : [];
    for (let start = 0; start < newest.length; start += readsTogether) {
      this.#batch = this.#read(newest.slice(start, start + readsTogether));
      await this.#batch;
    }
    this.#batch = null;
    if (!heads.ok) this.#loading = null;
  }

  async #read(heads: readonly SessionHead[]): Promise<void> {
    const identities = await Promise.all(heads.map(({ session }) => this.#identityOf(session)));
    for (const [at, identity] of identities.entries()) {
      const head = heads[at];
      if (head !== undefined && identity !== null) this.#enter(identity, head.session, "older");
    }
  }

  async #identityOf(session: SessionId): Promise<Identity | null> {
    const first = await this.#store.frames({ session, after: 0, limit: 1 });
    const delta = first.ok ? first.value[0]?.deltas.find(({ type }) => type === "session-identified") : null;
    return delta?.type === "session-identified" ? delta.identity : null;
  }
}

function nameOf({ owner, upstream, client }: Whose, key: string): string {
  return canonicalJson([owner, upstream, client, key]);
}
