import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { ask } from "../asking.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { collect } from "../export/collected.ts";
import { formNames, formOf } from "../export/forms.ts";
import { withoutSecrets } from "../export/masked-session.ts";
import { printable } from "../format/printable.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";
import { withApi } from "../with-api.ts";

export async function exportSession(call: ReadyCall): Promise<number> {
  const format = call.flags.get("format") ?? "jsonl";
  const form = formOf(format);
  if (form === undefined) {
    const message = `--format is ${formNames.join(", ")}, not "${printable(format, 40)}".`;
    return giveUp(call, { exit: exitCodes.usage, message });
  }
  const isMasked = !call.flags.has("with-secrets");
  if (!isMasked && !(await isMeant(call))) {
    const message = "Nothing was written. --with-secrets is for a person at a terminal, who agrees twice.";
    return giveUp(call, { exit: exitCodes.usage, message });
  }
  return await withApi(call, "export", async (there) => {
    const found = await findSession(there.api, sessionWord(there, there.operands[0]));
    if (!found.ok) return giveUp(there, found.problem);
    const all = await collect(there, found.value);
    if (!all.ok) return giveUp(there, all.problem);
    const shown = isMasked ? withoutSecrets(all.value) : all.value;
    return write(there, form(shown, { version: there.version, isMasked }));
  });
}

/** Twice, and never by `--yes`: what leaves this machine unmasked cannot be taken back. */
async function isMeant(call: ReadyCall): Promise<boolean> {
  const first = await ask(
    call,
    "The file will hold everything that was said, secrets included. Go on? [y/N] ",
  );
  if (first !== "y" && first !== "yes") return false;
  return (
    (await ask(call, 'Whoever gets it can read them. Write "with secrets" to agree: ')) === "with secrets"
  );
}

function write(call: ReadyCall, text: string): number {
  const out = call.flags.get("out");
  if (out === undefined) {
    call.screen.bytes(Buffer.from(`${text}\n`));
    return exitCodes.ok;
  }
  const path = resolve(out);
  try {
    // A file that is there is not ours to replace.
    writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `${error.code}` : "unknown error";
    const why = code === "EEXIST" ? "it is there already" : code;
    return giveUp(call, { exit: exitCodes.failed, message: `${path} was not written: ${why}.` });
  }
  if (!isQuiet(call)) call.screen.err(`written to ${path}`);
  return exitCodes.ok;
}
