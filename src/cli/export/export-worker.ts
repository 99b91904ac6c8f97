import { parentPort, workerData } from "node:worker_threads";
import { openApi } from "../api/api-client.ts";
import { findSession } from "../api/session-choice.ts";
import { collectSession } from "./collect-session.ts";
import { formatWriter } from "./export-formats.ts";
import type { ExportJob, ExportJobResult } from "./export-thread.ts";
import { maskSession } from "./mask-session.ts";

/** Reading a whole session takes longer than a usual answer. */
const answerMs = 600_000;

const { location, session, format, version } = workerData as ExportJob;
const exportResult = await runExport().catch(
  (error: unknown): ExportJobResult => ({ ok: false, problem: String(error) }),
);
parentPort?.postMessage(exportResult, exportResult.ok ? [exportResult.bytes.buffer] : []);

/** The same output as `aperture export`, by the same functions. */
async function runExport(): Promise<ExportJobResult> {
  const write = formatWriter(format);
  if (write === undefined) return { ok: false, problem: `there is no format ${format}` };
  const api = openApi(location, answerMs);
  const found = await findSession(api, session);
  if (!found.ok) return { ok: false, problem: found.problem.message };
  const all = await collectSession({ api, flags: new Map() }, found.value);
  if (!all.ok) return { ok: false, problem: all.problem.message };
  const text = write(maskSession(all.value), { version, isMasked: true });
  // A separate buffer, so that it can be transferred instead of copied.
  return { ok: true, bytes: new TextEncoder().encode(`${text}\n`) };
}
