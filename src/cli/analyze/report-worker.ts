import { parentPort } from "node:worker_threads";
import { assumptions, reportSession, type SessionReport } from "../../analysis/index.ts";
import { pricesOf, windowOf } from "../../config/index.ts";
import { loadO200k } from "../../tokens/index.ts";
import type { GatheredSession } from "../../transcripts/index.ts";

export type SessionReportResult =
  | { readonly ok: true; readonly report: SessionReport }
  | { readonly ok: false; readonly problem: string };

const deps = { assumptions, count: await loadO200k(), pricesOf, windowOf };

parentPort?.on("message", async (session: GatheredSession) => {
  parentPort?.postMessage(await reportOne(session));
});

/** A session that cannot be played fails alone. */
async function reportOne(session: GatheredSession): Promise<SessionReportResult> {
  try {
    return { ok: true, report: await reportSession(session, deps) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}
