import { setTimeout as sleep } from "node:timers/promises";
import type { Asker } from "../../host/index.ts";
import type { SessionRow, StateRow, StepRow } from "../../queries/answers/index.ts";
import { demoClient } from "./demo-client.ts";
import { type StoryRun, story } from "./demo-story.ts";

const tryMs = 20;
const triesMax = 50;

/** One answer and its effects. */
export type DemoTurn = {
  readonly turn: number;
  readonly prompt: string;
  readonly text: string;
  readonly session: SessionRow;
  readonly state: StateRow;
  /** The changes to blocks since the previous answer. */
  readonly steps: readonly StepRow[];
  /** The labels of the changed blocks: `read src/auth/session.ts`. */
  readonly labels: ReadonlyMap<number, string>;
  /** The step that the user has just undone. */
  readonly undone: StepRow | null;
  /** The number of commands that wait for the user. */
  readonly waiting: number;
};

export type DemoDeps = {
  readonly url: string;
  readonly ask: Asker;
  /** Waits between two answers. The first run does not wait, so that there is something to see at once. */
  readonly pause: () => Promise<void>;
  readonly report: (turn: DemoTurn) => void;
  readonly isOver: () => boolean;
};

export async function playDemo({ url, ask, pause, report, isOver }: DemoDeps): Promise<void> {
  const client = demoClient(url);
  const reporter = new DemoReporter(ask);
  for (const [at, run] of story.entries()) {
    if (isOver()) return;
    await client.run(run.prompt, async (text) => {
      const turn = await reporter.readTurn(run, text);
      if (turn !== null) report(turn);
      if (at > 0 && !isOver()) await pause();
    });
    if (run.afterwards !== "undo") continue;
    const undone = await reporter.undo();
    const turn = undone === null ? null : await reporter.readTurn(run, "");
    if (turn !== null) report({ ...turn, undone });
  }
}

class DemoReporter {
  readonly #ask: Asker;
  #turn = 0;
  #steps = 0;

  constructor(ask: Asker) {
    this.#ask = ask;
  }

  /** Undoes the last step of the model, as the user. */
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

  /** The session after its last answer is recorded, which happens after the client has received it. */
  async #settledSession(): Promise<SessionRow | null> {
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

  /** Null until something is recorded. */
  async readTurn({ prompt }: StoryRun, text: string): Promise<DemoTurn | null> {
    if (text !== "") this.#turn += 1;
    const session = await this.#settledSession();
    if (session === null) return null;
    const query = { session: session.id };
    const state = await this.#ask({ type: "state", ...query });
    const steps = await this.#ask({ type: "steps", limit: 20, ...query });
    const approvals = await this.#ask({ type: "approvals", all: false, ...query });
    if (!state.ok || !steps.ok || !approvals.ok) return null;
    const fresh = steps.value.rows.filter(({ step }) => step > this.#steps);
    this.#steps = Math.max(this.#steps, ...fresh.map(({ step }) => step));
    const { waiting } = approvals.value;
    const blocks = [...new Set(fresh.flatMap((step) => step.blocks))];
    const named = await this.#ask({ type: "labels", session: session.id, blocks });
    const rows = named.ok ? named.value.rows : [];
    return {
      turn: this.#turn,
      prompt,
      text,
      session,
      state: state.value,
      steps: fresh,
      labels: new Map(rows.map(({ block, label }) => [block, label ?? ""])),
      undone: null,
      waiting,
    };
  }
}
