import { setTimeout as sleep } from "node:timers/promises";
import type { Ask, SessionRow, StateRow, StepRow } from "../../session/index.ts";
import { DemoClient } from "./client.ts";
import { type StoryRun, story } from "./story.ts";

const tryMs = 20;
const triesMax = 50;

/** What happened with one answer, for whoever tells it. */
export type Told = {
  readonly turn: number;
  readonly prompt: string;
  readonly said: string;
  readonly session: SessionRow;
  readonly state: StateRow;
  /** What was done to blocks since the answer before. */
  readonly steps: readonly StepRow[];
  /** What the user has just taken back. */
  readonly undone: StepRow | null;
  /** How many commands wait for the user. */
  readonly waiting: number;
};

export type DemoPlace = {
  readonly url: string;
  readonly ask: Ask;
  /** Between two answers; the first run is not paced, so that there is something to see at once. */
  readonly pause: () => Promise<void>;
  readonly tell: (told: Told) => void;
  readonly isOver: () => boolean;
};

/** Plays the whole story through a running Aperture. */
export async function playDemo({ url, ask, pause, tell, isOver }: DemoPlace): Promise<void> {
  const client = new DemoClient(url);
  const teller = new Teller(ask);
  for (const [at, run] of story.entries()) {
    if (isOver()) return;
    await client.run(run.prompt, async (said) => {
      const told = await teller.told(run, said);
      if (told !== null) tell(told);
      if (at > 0 && !isOver()) await pause();
    });
    if (run.afterwards !== "undo") continue;
    const undone = await teller.undo();
    const told = undone === null ? null : await teller.told(run, "");
    if (told !== null) tell({ ...told, undone });
  }
}

class Teller {
  readonly #ask: Ask;
  #turn = 0;
  #steps = 0;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Takes back what the model did last, as the user. */
  async undo(): Promise<StepRow | null> {
    const session = await this.#session();
    const steps =
      session === null ? null : await this.#ask({ type: "steps", session: session.id, limit: 50 });
    if (session === null || steps?.ok !== true) return null;
    const last = steps.value.rows.findLast(({ actor, done }) => actor === "model" && done);
    if (last === undefined) return null;
    const undone = await this.#ask({ type: "reverse", session: session.id, verb: "undo", step: last.step });
    return undone.ok ? last : null;
  }

  /** The session once all that was answered is written down, which is after the client has its answer. */
  async #written(): Promise<SessionRow | null> {
    let session = await this.#session();
    for (let tries = 0; (session === null || session.state === "active") && tries < triesMax; tries += 1) {
      await sleep(tryMs);
      session = await this.#session();
    }
    return session;
  }

  async #session(): Promise<SessionRow | null> {
    const page = await this.#ask({ type: "sessions", limit: 1 });
    return page.ok ? (page.value.rows[0] ?? null) : null;
  }

  /** Null while nothing is recorded yet. */
  async told({ prompt }: StoryRun, said: string): Promise<Told | null> {
    if (said !== "") this.#turn += 1;
    const session = await this.#written();
    if (session === null) return null;
    const of = { session: session.id };
    const state = await this.#ask({ type: "state", ...of });
    const steps = await this.#ask({ type: "steps", limit: 20, ...of });
    const approvals = await this.#ask({ type: "approvals", all: false, ...of });
    if (!state.ok || !steps.ok || !approvals.ok) return null;
    const fresh = steps.value.rows.filter(({ step }) => step > this.#steps);
    this.#steps = Math.max(this.#steps, ...fresh.map(({ step }) => step));
    const { waiting } = approvals.value;
    return {
      turn: this.#turn,
      prompt,
      said,
      session,
      state: state.value,
      steps: fresh,
      undone: null,
      waiting,
    };
  }
}
