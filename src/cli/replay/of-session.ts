import type { PricedDetail, PricedPage } from "../../control/index.ts";
import { sessionPath } from "../api-path.ts";
import type { ReadyCall } from "../call.ts";
import { framesOf } from "../export/collected.ts";
import { type Outcome, succeed } from "../outcome.ts";
import { openProgress } from "../progress.ts";
import { exitCodes } from "../usage.ts";
import type { BodyEvidence, Evidence, RawEvidence } from "./evidence.ts";

/** Where the API has the bytes of each stored side. */
const routes: Readonly<Record<string, string>> = {
  "client-request": "client",
  "upstream-request": "upstream",
  "upstream-response": "response",
};
const perRead = 1_000;

export async function evidenceOfSession(
  call: ReadyCall,
  { id, requests }: { readonly id: string; readonly requests: number },
): Promise<Outcome<Evidence>> {
  const frames = await framesOf(call, id);
  if (!frames.ok) return frames;
  const progress = openProgress(call, { what: "requests", total: requests });
  const [bodies, raw]: [BodyEvidence[], RawEvidence[]] = [[], []];
  for (let after: number | null = 0; after !== null; ) {
    const path: string = sessionPath(id, "/requests", { after, limit: perRead });
    const page = await call.api.json<PricedPage>(path);
    if (!page.ok) return page;
    const { rows, next }: PricedPage = page.value.value;
    for (const row of rows) {
      const found = await ofRequest(call, sessionPath(id, `/requests/${row.id}`), row.id);
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

async function ofRequest(call: ReadyCall, path: string, request: number) {
  const detail = await call.api.json<PricedDetail>(path);
  if (!detail.ok) return detail;
  const { bodies, identical } = detail.value.value;
  const found: BodyEvidence[] = [];
  for (const { side, hash } of bodies) {
    const route = routes[side];
    if (route === undefined) continue;
    const reply = await call.api.bytes(`${path}/${route}`);
    // What the user purged is gone on purpose.
    const isPurged = !reply.ok && reply.problem.exit === exitCodes.missing;
    found.push({ request, side, hash, bytes: reply.ok ? reply.value : isPurged ? "purged" : null });
  }
  return succeed({ bodies: found, isSame: identical.request });
}
