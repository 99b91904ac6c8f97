import { join, resolve } from "node:path";
import type { BackupReport } from "../../store/index.ts";
import { apiPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { bytesText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { exitCodes } from "../usage.ts";
import { withApi } from "../with-api.ts";

export async function backup(call: ReadyCall): Promise<number> {
  const path = resolve(call.operands[0] ?? usualFile(call));
  return await withApi(call, "backup", async (there) => {
    const reply = await there.api.post<BackupReport>(apiPath("/backup"), { path });
    if (!reply.ok) return giveUp(there, reply.problem);
    if (wantsJson(there)) return printJson(there, reply.value.text);
    there.screen.out(printable(reply.value.value.path));
    if (!isQuiet(there)) there.screen.err(`${bytesText(reply.value.value.bytes)} written`);
    return exitCodes.ok;
  });
}

/** Beside the data, named after the moment, so that one never stands in the way of the next. */
function usualFile({ settings, world }: ReadyCall): string {
  const stamp = new Date(world.nowMs())
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "-");
  return join(settings.dataDir, `backup-${stamp}.db`);
}
