import { ok, type Result } from "../base/index.ts";
import { pricesOf } from "../config/index.ts";
import type { Usage } from "../engine/index.ts";
import type { Ask, StepRow, WindowRow } from "../session/index.ts";

/** What a status line has room for, in one answer: it is drawn after every message. */
export type GlanceAnswer = {
  readonly seq: number;
  readonly model: string | null;
  readonly window: WindowRow;
  /** Of the last turn that told it. */
  readonly usage: Usage | null;
  /** When the provider forgets what it has cached, if nothing is sent before. */
  readonly cacheEndsMs: number | null;
  /** What was done to blocks last. */
  readonly step: StepRow | null;
};

/** Far enough back to find a turn behind requests that are none. */
const rowsLooked = 5;

export async function glanceAt(ask: Ask, session: string): Promise<Result<GlanceAnswer>> {
  const detail = await ask({ type: "session", session });
  if (!detail.ok) return detail;
  const { id, requests, window, model } = detail.value.session;
  const [page, steps] = await Promise.all([
    ask({ type: "requests", session: id, after: Math.max(0, requests - rowsLooked), limit: rowsLooked }),
    ask({ type: "steps", session: id, limit: 1 }),
  ]);
  if (!page.ok) return page;
  if (!steps.ok) return steps;
  const turn = page.value.rows.findLast(({ role, usage }) => role === "turn" && usage !== null);
  const startMs = turn?.time ?? null;
  return ok({
    seq: detail.value.seq,
    model,
    window,
    usage: turn?.usage ?? null,
    cacheEndsMs: startMs === null ? null : startMs + pricesOf(turn?.model ?? null).cache.lifetimeMs,
    step: steps.value.rows.at(-1) ?? null,
  });
}
