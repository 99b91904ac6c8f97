import type { StreamId } from "../base/index.ts";
import type { Pending } from "./activation.ts";
import type { RunEnd } from "./run.ts";

/** An agent in a stream: it does one thing at a time there. */
export type Who = { readonly agent: string; readonly stream: StreamId };

export type RunsPlace = {
  /** So many at once. */
  readonly runsMax: number;
  /** What is asked, in the order it is to be answered. */
  readonly pending: () => readonly Pending[];
  readonly isKnown: (agent: string) => boolean;
  /** Contract: the agent is known. */
  readonly start: (who: Who, signal: AbortSignal) => Promise<RunEnd>;
  readonly finished: (who: Who, end: RunEnd) => void;
};

type Going = Who & { readonly controller: AbortController; readonly ended: Promise<RunEnd> };

/** Who is at work in a space, and who is next. */
export class Runs {
  readonly #place: RunsPlace;
  readonly #going = new Map<string, Going>();
  /** Those whose end nobody could write down: to the log they go on, and here they would for ever. */
  readonly #stuck = new Set<string>();
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(place: RunsPlace) {
    this.#place = place;
  }

  /** Starts what waits, as far as there is room. */
  pump(): void {
    for (const who of this.#isClosed ? [] : this.#asked()) {
      if (this.#going.size < this.#place.runsMax && !this.#going.has(keyOf(who))) this.#start(who);
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** The log has taken something: whoever could not write down an end may try again. */
  retry(): void {
    this.#stuck.clear();
    this.pump();
  }

  isGoing(who: Who): boolean {
    return this.#going.has(keyOf(who));
  }

  async stop(who: Who): Promise<void> {
    const going = this.#going.get(keyOf(who));
    going?.controller.abort();
    await going?.ended;
  }

  /** Resolves when none of those that are meant is at work or asked to be. */
  async idle(isMeant: (who: Who) => boolean): Promise<void> {
    const isAtWork = (): boolean =>
      !this.#isClosed && ([...this.#going.values()].some(isMeant) || this.#asked().some(isMeant));
    while (isAtWork()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.pump();
    const going = [...this.#going.values()];
    for (const { controller } of going) controller.abort();
    await Promise.all(going.map(({ ended }) => ended));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  #asked(): readonly Who[] {
    const who = this.#place
      .pending()
      .map(({ block: { stream }, activation: { agent } }): Who => ({ agent, stream }));
    return who.filter((one) => this.#place.isKnown(one.agent) && !this.#stuck.has(keyOf(one)));
  }

  #start(who: Who): void {
    const controller = new AbortController();
    const key = keyOf(who);
    // Not before it counts as going: what it writes is heard, and whoever hears it may ask for more.
    const ended = Promise.resolve()
      .then(() => this.#place.start(who, controller.signal))
      .catch((): RunEnd => ({ is: "failed", isRecorded: false }));
    this.#going.set(key, { ...who, controller, ended });
    void ended.then((end) => {
      this.#going.delete(key);
      if (!end.isRecorded) this.#stuck.add(key);
      this.#place.finished(who, end);
      this.pump();
    });
  }
}

function keyOf({ agent, stream }: Who): string {
  return JSON.stringify([agent, stream]);
}
