import { statSync } from "node:fs";
import { resolve } from "node:path";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { pluralText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type ReadyCall, reportProblem } from "../verb-call.ts";
import { withApi } from "../with-api.ts";
import { type Evidence, evidenceFromFile, evidenceFromSession } from "./evidence.ts";
import { judgeReplay, type ReplayVerdict } from "./judge.ts";

const problemsShownMax = 20;

/** A file is replayed without Aperture; a session is read from a running Aperture or from a temporary one. */
export async function replay(call: ReadyCall): Promise<number> {
  const [word] = call.operands;
  const path = word === undefined ? null : resolve(word);
  if (path !== null && isFile(path)) {
    const evidence = evidenceFromFile(path);
    return evidence.ok ? printVerdict(call, evidence.value) : reportProblem(call, evidence.problem);
  }
  return await withApi(call, "replay", async (ready) => {
    const found = await findSession(ready.api, sessionArgument(ready, word));
    if (!found.ok) return reportProblem(ready, found.problem);
    const evidence = await evidenceFromSession(ready, found.value.session);
    return evidence.ok ? printVerdict(ready, evidence.value) : reportProblem(ready, evidence.problem);
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function printVerdict(call: ReadyCall, evidence: Evidence): number {
  const to = call.flags.get("to");
  const verdict = judgeReplay(evidence, to === undefined ? null : Number(to));
  if (wantsJson(call)) printJson(call, JSON.stringify({ v: 1, ...verdict }));
  else show(call, verdict);
  const isBad = call.flags.has("verify") && verdict.problems.length > 0;
  return isBad ? exitCodes.failed : exitCodes.ok;
}

function show(
  { screen }: ReadyCall,
  { frames, folded, blocks, requests, bodies, raw, managed, problems }: ReplayVerdict,
): void {
  const parts = [
    `${pluralText(frames, "frame")}, ${folded} replayed to ${pluralText(blocks, "block")}`,
    `${pluralText(requests, "request")}, ${bodies.identical}/${bodies.all} stored bodies byte-identical`,
  ];
  screen.out(parts.join("; "));
  if (folded < frames && problems.length === 0) {
    screen.err(`${frames - folded} frames follow a masked one and cannot be replayed.`);
  }
  if (bodies.unseen > 0) {
    screen.err(`${bodies.unseen} bodies are masked, unpacked or purged: their bytes cannot be checked.`);
  }
  if (raw.all > 0)
    screen.out(`${raw.identical}/${raw.all} requests that were not managed were relayed unchanged`);
  if (managed.all > 0) screen.out(`${managed.identical}/${managed.all} managed requests match the ledger`);
  for (const problem of problems.slice(0, problemsShownMax)) screen.out(printable(problem, 300));
  const more = problems.length - problemsShownMax;
  if (more > 0) screen.out(`and ${more} more`);
}
