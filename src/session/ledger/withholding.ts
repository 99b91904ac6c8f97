import type { Asking } from "../desk-port.ts";
import type { Belonging } from "../record/identify.ts";
import type { TextPrint } from "../text-print.ts";
import type { WithheldSession } from "../withheld-session.ts";
import type { Withheld } from "./withheld.ts";

/** What is withheld in all sessions, known before the log can be asked: no body leaves without it. */
export class Withholding {
  readonly #sessions = new Map<string, WithheldSession>();
  readonly #prints = new Map<string, TextPrint>();

  constructor(known: readonly WithheldSession[]) {
    for (const one of known) this.note(one);
  }

  note(told: WithheldSession): void {
    if (told.units.length === 0) this.#sessions.delete(told.session);
    else this.#sessions.set(told.session, told);
    for (const { key, print } of told.units) if (print !== null) this.#prints.set(key, print);
  }

  /** What the log or the user names by its keys, with what else it is found by. */
  printed(keys: Iterable<string>): Withheld {
    return new Map([...keys].map((key) => [key, this.#prints.get(key) ?? null]));
  }

  /**
   * What may be in a request of which nobody knows more: all that is withheld in the session its client
   * names. Where none is named, it may be any session of the same client that has no name.
   */
  for(asking: Asking, belonging: Belonging): Withheld {
    const { sessionKey } = belonging;
    const sessions = this.#of(asking, belonging).filter(({ name }) => name === sessionKey);
    return this.printed(sessions.flatMap(({ units }) => units.map(({ key }) => key)));
  }

  /** Whether any of it may be in a body that was not read: the name of its session may stand there. */
  mayConcern(asking: Asking, belonging: Belonging): boolean {
    const { sessionKey } = belonging;
    return this.#of(asking, belonging).some(({ name }) => sessionKey === null || name === sessionKey);
  }

  #of({ caller, upstream }: Asking, { client }: Belonging): readonly WithheldSession[] {
    return [...this.#sessions.values()].filter(
      (one) => one.owner === caller.owner && one.upstream === upstream && one.client === client,
    );
  }
}
