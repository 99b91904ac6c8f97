import { canonicalJson, type SessionId } from "../base/index.ts";
import type { SessionIdentity } from "../engine/frames/index.ts";
import type { SessionHead, Store } from "../store/index.ts";
import { nameKey, parseSessionKey } from "./session-key.ts";

/** An identity without its key. The project is left out too: it is a label and may change. */
export type SessionOwner = Pick<SessionIdentity, "owner" | "upstream" | "client">;

const readsTogether = 64;
/** Age of a session compared with those already in the list. */
type RelativeAge = "newer" | "older";

/** Finds sessions by identity, newest first. It is read once from the log, then kept up to date. */
export class SessionDirectory {
  readonly #sessions = new Map<string, readonly SessionId[]>();
  readonly #generatedNames = new Map<SessionId, string>();
  readonly #store: Store;
  #loading: Promise<void> | null = null;
  /** The sessions being read now; null when none are. */
  #currentBatch: Promise<void> | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The newest sessions are read first, so that finding one of them does not wait for all. */
  async findByName(owner: SessionOwner, name: string): Promise<SessionId | null> {
    const find = (): SessionId | null => this.#sessions.get(directoryKey(owner, nameKey(name)))?.[0] ?? null;
    void this.load();
    while (find() === null && this.#currentBatch !== null) await this.#currentBatch;
    return find();
  }

  /** The key is a start key or a credential key. */
  async findByKey(owner: SessionOwner, key: string): Promise<readonly SessionId[]> {
    await this.load();
    return this.#sessions.get(directoryKey(owner, key)) ?? [];
  }

  /**
   * Reads the store once. If that fails, the next call tries again; until then every session counts as new.
   */
  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** The name the planner gave a session whose client does not name it. */
  generatedName(session: SessionId): string | null {
    return this.#generatedNames.get(session) ?? null;
  }

  add(identity: SessionIdentity, session: SessionId): void {
    this.#addIdentity(identity, session, "newer");
  }

  /** The session is then found by this name too. */
  setGeneratedName(owner: SessionOwner, session: SessionId, generatedName: string): void {
    this.#generatedNames.set(session, generatedName);
    this.#addSession(directoryKey(owner, nameKey(generatedName)), session, "newer");
  }

  /** Forgets a session, so that it is not found any more. */
  remove(session: SessionId): void {
    for (const [key, ids] of this.#sessions) {
      if (ids.includes(session))
        this.#sessions.set(
          key,
          ids.filter((id) => id !== session),
        );
    }
    this.#generatedNames.delete(session);
  }

  #addIdentity(identity: SessionIdentity, session: SessionId, age: RelativeAge): void {
    const { start, generatedName, credential } = parseSessionKey(identity.key);
    const keys = [start, credential, generatedName === null ? null : nameKey(generatedName)];
    for (const key of keys) if (key !== null) this.#addSession(directoryKey(identity, key), session, age);
    if (generatedName !== null) this.#generatedNames.set(session, generatedName);
  }

  #addSession(key: string, session: SessionId, age: RelativeAge): void {
    const others = (this.#sessions.get(key) ?? []).filter((id) => id !== session);
    this.#sessions.set(key, age === "newer" ? [session, ...others] : [...others, session]);
  }

  async #load(): Promise<void> {
    const reading = this.#store.sessions();
    this.#currentBatch = reading.then(() => undefined);
    const heads = await reading;
    const newest = heads.ok ? [...heads.value].reverse() : [];
    for (let start = 0; start < newest.length; start += readsTogether) {
      this.#currentBatch = this.#readIdentities(newest.slice(start, start + readsTogether));
      await this.#currentBatch;
    }
    this.#currentBatch = null;
    if (!heads.ok) this.#loading = null;
  }

  async #readIdentities(heads: readonly SessionHead[]): Promise<void> {
    const identities = await Promise.all(heads.map(({ session }) => this.#identityOf(session)));
    for (const [at, identity] of identities.entries()) {
      const head = heads[at];
      if (head !== undefined && identity !== null) this.#addIdentity(identity, head.session, "older");
    }
  }

  async #identityOf(session: SessionId): Promise<SessionIdentity | null> {
    const first = await this.#store.frames({ session, after: 0, limit: 1 });
    const delta = first.ok ? first.value[0]?.deltas.find(({ type }) => type === "session-identified") : null;
    return delta?.type === "session-identified" ? delta.identity : null;
  }
}

function directoryKey({ owner, upstream, client }: SessionOwner, key: string): string {
  return canonicalJson([owner, upstream, client, key]);
}
