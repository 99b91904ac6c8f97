import type { GcReport } from "../../store/index.ts";
import { apiPath } from "../api-path.ts";
import { giveUp, type ReadyCall } from "../call.ts";
import { bytesText, manyText } from "../format/numbers.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { exitCodes } from "../usage.ts";
import { withApi } from "../with-api.ts";

export async function gc(call: ReadyCall): Promise<number> {
  return await withApi(call, "gc", async (there) => {
    const reply = await there.api.post<GcReport>(apiPath("/gc"), {});
    if (!reply.ok) return giveUp(there, reply.problem);
    if (wantsJson(there)) return printJson(there, reply.value.text);
    const { contents, pages, freedBytes } = reply.value.value;
    const dropped = `${manyText(contents, "content")} and ${manyText(pages, "page")}`;
    there.screen.out(`dropped ${dropped}, ${bytesText(freedBytes)} freed`);
    return exitCodes.ok;
  });
}
