import { canonicalJson, type SessionId } from "../../base/index.ts";
import type { Identity } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";

/** Which sessions answer to which identity, newest first. Read once from the log, then kept up to date. */
export class Directory {
  readonly #sessions = new Map<string, readonly SessionId[]>();
  readonly #store: Store;
  #isLoaded = false;

  constructor(store: Store) {
    this.#store = store;
  }

  async find(identity: Identity): Promise<readonly SessionId[]> {
    if (!this.#isLoaded) await this.#load();
    return this.#sessions.get(nameOf(identity)) ?? [];
  }

  add(identity: Identity, session: SessionId): void {
    const name = nameOf(identity);
    const before = this.#sessions.get(name) ?? [];
    if (!before.includes(session)) this.#sessions.set(name, [session, ...before]);
  }

  /** A store that cannot be read now may be readable at the next request; until then all is new. */
  async #load(): Promise<void> {
    const heads = await this.#store.sessions();
    if (!heads.ok) return;
    for (const { session } of heads.value) {
      const first = await this.#store.frames({ session, after: 0, limit: 1 });
      const delta = first.ok
        ? first.value[0]?.deltas.find(({ type }) => type === "session-identified")
        : undefined;
      if (delta?.type === "session-identified") this.add(delta.identity, session);
    }
    this.#isLoaded = true;
  }
}

/** The project is a label and may change; the rest is who it is. */
function nameOf({ owner, upstream, client, key }: Identity): string {
  return canonicalJson([owner, upstream, client, key]);
}
