import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { errorCode } from "../outcome.ts";
import { promptUser } from "../prompt.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";
import { withApi } from "../with-api.ts";
import { collectSession } from "./collect-session.ts";
import { formatWriter } from "./export-formats.ts";
import { maskSession } from "./mask-session.ts";

export async function exportSession(call: ReadyCall): Promise<number> {
  const writeFormat = formatWriter(call.flags.get("format") ?? "jsonl");
  if (writeFormat === undefined) return exitCodes.usage;
  const isMasked = !call.flags.has("with-secrets");
  if (!isMasked && !(await isAgreed(call))) {
    const message = "Nothing was written. --with-secrets needs a terminal and two confirmations.";
    return reportProblem(call, { exit: exitCodes.usage, message });
  }
  return await withApi(call, "export", async (ready) => {
    const found = await findSession(ready.api, sessionArgument(ready, ready.operands[0]));
    if (!found.ok) return reportProblem(ready, found.problem);
    const collected = await collectSession(ready, found.value);
    if (!collected.ok) return reportProblem(ready, collected.problem);
    const session = isMasked ? maskSession(collected.value) : collected.value;
    return writeOutput(ready, writeFormat(session, { version: ready.version, isMasked }));
  });
}

/** Asks twice and ignores `--yes`: a file that left this machine unmasked cannot be taken back. */
async function isAgreed(call: ReadyCall): Promise<boolean> {
  const first = await promptUser(call, "The file will contain everything, secrets included. Go on? [y/N] ");
  if (first !== "y" && first !== "yes") return false;
  const second = await promptUser(call, 'Anyone with the file can read them. Type "with secrets" to agree: ');
  return second === "with secrets";
}

function writeOutput(call: ReadyCall, text: string): number {
  const out = call.flags.get("out");
  if (out === undefined) {
    call.screen.bytes(Buffer.from(`${text}\n`));
    return exitCodes.ok;
  }
  const path = resolve(out);
  try {
    // An existing file is never replaced.
    writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const code = errorCode(error);
    const reason = code === "EEXIST" ? "it already exists" : code;
    return reportProblem(call, { exit: exitCodes.failed, message: `${path} was not written: ${reason}.` });
  }
  if (!isQuiet(call)) call.screen.err(`written to ${path}`);
  return exitCodes.ok;
}
