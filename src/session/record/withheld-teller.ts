import type { SessionId } from "../../base/index.ts";
import type { Frame, State } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import type { WithheldSession } from "../withheld-session.ts";
import { isWithholding, withheldIn, withholdsAny } from "./withheld-blocks.ts";

type TellerPlace = {
  readonly store: Pick<Store, "content">;
  /** What is withheld in a session from now on, for whoever cannot wait for the log. */
  readonly withhold?: (withheld: WithheldSession) => void;
};

/** Tells what is withheld in a session, whenever that may have changed. */
export class WithheldTeller {
  readonly #place: TellerPlace;
  readonly #changed = new Set<SessionId>();

  constructor(place: TellerPlace) {
    this.#place = place;
  }

  heard({ session, deltas }: Frame): void {
    if (deltas.some(isWithholding)) this.#changed.add(session);
  }

  /** Of a session that an earlier process has left. */
  async found(state: State): Promise<void> {
    if (withholdsAny(state)) await this.tell(state);
  }

  async changed(state: State): Promise<void> {
    if (this.#changed.delete(state.session)) await this.tell(state);
  }

  async tell(state: State): Promise<void> {
    const { store, withhold } = this.#place;
    const withheld = withhold === undefined ? null : await withheldIn(state, store);
    if (withheld !== null) withhold?.(withheld);
  }
}
