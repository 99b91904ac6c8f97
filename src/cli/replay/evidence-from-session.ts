import type { PricedRequestDetail, PricedRequests } from "../../control/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { exitCodes } from "../exit-codes.ts";
import { readAllFrames } from "../export/collect-session.ts";
import { type CliResult, succeed } from "../outcome.ts";
import { openProgress } from "../progress.ts";
import type { ReadyCall } from "../verb-call.ts";
import type { BodyEvidence, Evidence, RawEvidence } from "./evidence.ts";

/** The API route of each stored side. */
const routes: Readonly<Record<string, string>> = {
  "client-request": "client",
  "upstream-request": "upstream",
  "upstream-response": "response",
};
const perRead = 1_000;

export async function evidenceFromSession(
  call: ReadyCall,
  { id, requests }: { readonly id: string; readonly requests: number },
): Promise<CliResult<Evidence>> {
  const frames = await readAllFrames(call, id);
  if (!frames.ok) return frames;
  const progress = openProgress(call, { what: "requests", total: requests });
  const [bodies, raw]: [BodyEvidence[], RawEvidence[]] = [[], []];
  for (let after: number | null = 0; after !== null; ) {
    const path: string = sessionPath(id, "/requests", { after, limit: perRead });
    const page = await call.api.json<PricedRequests>(path);
    if (!page.ok) return page;
    const { rows, next }: PricedRequests = page.value.value;
    for (const row of rows) {
      const found = await requestEvidence(call, sessionPath(id, `/requests/${row.id}`), row.id);
      if (!found.ok) return found;
      bodies.push(...found.value.bodies);
      if (row.rendering === "raw") raw.push({ request: row.id, isSame: found.value.isSame });
      progress.step();
    }
    after = rows.length === 0 ? null : next;
  }
  progress.end();
  return succeed({ session: id, frames: frames.value, maskedFrames: new Set(), bodies, raw, requests });
}

async function requestEvidence(call: ReadyCall, path: string, request: number) {
  const detail = await call.api.json<PricedRequestDetail>(path);
  if (!detail.ok) return detail;
  const { bodies, identical } = detail.value.value;
  const found: BodyEvidence[] = [];
  for (const { side, hash } of bodies) {
    const route = routes[side];
    if (route === undefined) continue;
    const reply = await call.api.bytes(`${path}/${route}`);
    // A purged body is missing on purpose.
    const isPurged = !reply.ok && reply.problem.exit === exitCodes.missing;
    found.push({ request, side, hash, bytes: reply.ok ? reply.value : isPurged ? "purged" : null });
  }
  return succeed({ bodies: found, isSame: identical.request });
}
