import type { SessionId } from "../../base/index.ts";

/** Where a request belongs. */
export type RequestPlace = {
  readonly session: SessionId;
  readonly agent: string | null;
  readonly model: string | null;
};

type Recent = RequestPlace & { readonly answered: Promise<void>; readonly settle: () => void };

/** Answers ask something of us soon or never. */
const recentMax = 1_000;

/** Requests of late, for what their answers ask of us: that waits until the answer is recorded. */
export class RecentRequests {
  readonly #recent = new Map<string, Recent>();

  begin(id: string, place: RequestPlace): void {
    let settle: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.end(id);
    this.#recent.delete(id);
    this.#recent.set(id, { ...place, answered, settle });
    const [oldest] = this.#recent.keys();
    if (this.#recent.size <= recentMax || oldest === undefined) return;
    this.end(oldest);
    this.#recent.delete(oldest);
  }

  get(id: string): Omit<Recent, "settle"> | undefined {
    return this.#recent.get(id);
  }

  end(id: string): void {
    this.#recent.get(id)?.settle();
  }
}
