import { parentPort, workerData } from "node:worker_threads";
import { openApi } from "../client.ts";
import { findSession } from "../session-choice.ts";
import { collect } from "./collected.ts";
import { formOf } from "./forms.ts";
import { withoutSecrets } from "./masked-session.ts";
import type { ExportWork, Made } from "./thread.ts";

/** Reading everything there is may take longer than one answer usually does. */
const answerMs = 600_000;

const { place, session, format, version } = workerData as ExportWork;
const made = await exported().catch((error: unknown): Made => ({ ok: false, problem: String(error) }));
parentPort?.postMessage(made, made.ok ? [made.bytes.buffer] : []);

/** What `aperture export` prints, made of the same answers by the same functions. */
async function exported(): Promise<Made> {
  const form = formOf(format);
  if (form === undefined) return { ok: false, problem: `there is no format ${format}` };
  const api = openApi(place, answerMs);
  const found = await findSession(api, session);
  if (!found.ok) return { ok: false, problem: found.problem.message };
  const all = await collect({ api, flags: new Map() }, found.value);
  if (!all.ok) return { ok: false, problem: all.problem.message };
  const text = form(withoutSecrets(all.value), { version, isMasked: true });
  // A buffer of its own, so that it can be handed over and not copied.
  return { ok: true, bytes: new TextEncoder().encode(`${text}\n`) };
}
