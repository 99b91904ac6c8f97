import { parentPort } from "node:worker_threads";
import { assumptions, reportSession, type SessionReport } from "../../analysis/index.ts";
import { pricesOf, windowOf } from "../../config/index.ts";
import { loadO200k } from "../../tokens/index.ts";
import type { GatheredSession } from "../../transcripts/index.ts";

/** What became of a session that was handed over. */
export type Worked =
  | { readonly ok: true; readonly report: SessionReport }
  | { readonly ok: false; readonly problem: string };

const playing = { assumptions, count: await loadO200k(), pricesOf, windowOf };

parentPort?.on("message", async (session: GatheredSession) => {
  parentPort?.postMessage(await worked(session));
});

/** A session that cannot be played is one less; the others are none the worse. */
async function worked(session: GatheredSession): Promise<Worked> {
  try {
    return { ok: true, report: await reportSession(session, playing) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}
