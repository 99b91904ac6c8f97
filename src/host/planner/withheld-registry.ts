import type {
  RequestIdentity,
  RequestMeta,
  TextFingerprint,
  Wishes,
  WithheldSession,
} from "../../exchange/index.ts";
import type { WithheldContent } from "../../ledger/index.ts";

/**
 * The withheld content of all sessions. It is known before the log can answer, so that nothing withheld
 * leaves.
 */
export class WithheldRegistry {
  readonly #sessions = new Map<string, WithheldSession>();
  readonly #fingerprints = new Map<string, TextFingerprint>();

  constructor(known: readonly WithheldSession[]) {
    for (const session of known) this.update(session);
  }

  update(session: WithheldSession): void {
    if (session.units.length === 0) this.#sessions.delete(session.session);
    else this.#sessions.set(session.session, session);
    for (const { key, print } of session.units) if (print !== null) this.#fingerprints.set(key, print);
  }

  /** Adds to the keys of withheld units the fingerprints that find their texts in other units. */
  withFingerprints(keys: Iterable<string>): WithheldContent {
    return new Map([...keys].map((key) => [key, this.#fingerprints.get(key) ?? null]));
  }

  /** The content that wishes withhold, with fingerprints. Null if they withhold the same as before. */
  ofWishes({ withheld }: Wishes): WithheldContent | null {
    return withheld === undefined ? null : this.withFingerprints(withheld);
  }

  /**
   * Content that a request without a live stream may contain: everything withheld in the session that its
   * client names, or in any unnamed session of the same client if it names none.
   */
  forRequest(meta: RequestMeta, identity: RequestIdentity): WithheldContent {
    const { sessionKey } = identity;
    const sessions = this.#sessionsOf(meta, identity).filter(({ name }) => name === sessionKey);
    return this.withFingerprints(sessions.flatMap(({ units }) => units.map(({ key }) => key)));
  }

  /** A body that was not parsed may hold withheld content; the session may be named in the body itself. */
  mayAffect(meta: RequestMeta, identity: RequestIdentity): boolean {
    const { sessionKey } = identity;
    return this.#sessionsOf(meta, identity).some(({ name }) => sessionKey === null || name === sessionKey);
  }

  #sessionsOf({ caller, upstream }: RequestMeta, { client }: RequestIdentity): readonly WithheldSession[] {
    return [...this.#sessions.values()].filter(
      (session) =>
        session.owner === caller.owner && session.upstream === upstream && session.client === client,
    );
  }
}
