import { statSync } from "node:fs";
import { resolve } from "node:path";
import { giveUp, type ReadyCall } from "../call.ts";
import { manyText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import type { Evidence } from "../replay/evidence.ts";
import { judge, type Verdict } from "../replay/judge.ts";
import { evidenceOfFile } from "../replay/of-file.ts";
import { evidenceOfSession } from "../replay/of-session.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";
import { withApi } from "../with-api.ts";

const problemsShownMax = 20;

/** A file is replayed without asking anybody; a session is asked for, from a running Aperture or not. */
export async function replay(call: ReadyCall): Promise<number> {
  const [word] = call.operands;
  const path = word === undefined ? null : resolve(word);
  if (path !== null && isFile(path)) {
    const evidence = evidenceOfFile(path);
    return evidence.ok ? tell(call, evidence.value) : giveUp(call, evidence.problem);
  }
  return await withApi(call, "replay", async (there) => {
    const found = await findSession(there.api, sessionWord(there, word));
    if (!found.ok) return giveUp(there, found.problem);
    const evidence = await evidenceOfSession(there, found.value.session);
    return evidence.ok ? tell(there, evidence.value) : giveUp(there, evidence.problem);
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function tell(call: ReadyCall, evidence: Evidence): number {
  const to = call.flags.get("to");
  const verdict = judge(evidence, to === undefined ? null : Number(to));
  if (wantsJson(call)) printJson(call, JSON.stringify({ v: 1, ...verdict }));
  else show(call, verdict);
  const isBad = call.flags.has("verify") && verdict.problems.length > 0;
  return isBad ? exitCodes.failed : exitCodes.ok;
}

function show(
  { screen }: ReadyCall,
  { frames, folded, blocks, requests, bodies, raw, managed, problems }: Verdict,
): void {
  const parts = [
    `${manyText(frames, "frame")}, ${folded} carried out again to ${manyText(blocks, "block")}`,
    `${manyText(requests, "request")}, ${bodies.identical}/${bodies.all} stored bodies byte-identical`,
  ];
  screen.out(parts.join("; "));
  if (folded < frames && problems.length === 0) {
    screen.err(`${frames - folded} frames stand behind a masked one: they cannot be carried out again.`);
  }
  if (bodies.unseen > 0) {
    screen.err(`${bodies.unseen} bodies are masked, unpacked or purged: nothing can be said of their bytes.`);
  }
  if (raw.all > 0)
    screen.out(`${raw.identical}/${raw.all} requests that were not managed went up as they came`);
  if (managed.all > 0)
    screen.out(`${managed.identical}/${managed.all} managed requests are what the ledger spells`);
  for (const problem of problems.slice(0, problemsShownMax)) screen.out(printable(problem, 300));
  const more = problems.length - problemsShownMax;
  if (more > 0) screen.out(`and ${more} more`);
}
