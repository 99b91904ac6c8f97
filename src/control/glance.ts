import { ok, type Result } from "../base/index.ts";
import { pricesOf } from "../config/index.ts";
import type { Usage } from "../engine/frames/index.ts";
import type { Asker } from "../host/index.ts";
import type { StepRow } from "../queries/answers/index.ts";
import type { WindowRow } from "../recorder/index.ts";

/** All that a status line shows, in one answer, because it is drawn after every message. */
export type GlanceAnswer = {
  readonly seq: number;
  readonly model: string | null;
  readonly window: WindowRow;
  /** The usage of the last turn that reported it. */
  readonly usage: Usage | null;
  /** The time at which the provider's cache expires, unless a request is sent before. */
  readonly cacheEndsMs: number | null;
  /** The last step. */
  readonly step: StepRow | null;
};

/** Enough of the newest requests to find a turn among counts and side requests. */
const rowsScanned = 5;

export async function glanceAt(ask: Asker, session: string): Promise<Result<GlanceAnswer>> {
  const detail = await ask({ type: "session", session });
  if (!detail.ok) return detail;
  const { id, requests, window, model } = detail.value.session;
  const [page, steps] = await Promise.all([
    ask({ type: "requests", session: id, after: Math.max(0, requests - rowsScanned), limit: rowsScanned }),
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
