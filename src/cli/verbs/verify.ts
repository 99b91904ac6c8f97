import type { VerifyReport } from "../../store/index.ts";
import { apiPath } from "../api-path.ts";
import { giveUp, type ReadyCall } from "../call.ts";
import { manyText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { exitCodes } from "../usage.ts";
import { withApi } from "../with-api.ts";

export async function verify(call: ReadyCall): Promise<number> {
  const scope = call.flags.has("tail") ? "tail" : "all";
  return await withApi(call, "verify", async (there) => {
    const reply = await there.api.post<VerifyReport>(apiPath("/verify"), { scope });
    if (!reply.ok) return giveUp(there, reply.problem);
    const report = reply.value.value;
    if (wantsJson(there)) printJson(there, reply.value.text);
    else show(there, report);
    return report.damage.length === 0 ? exitCodes.ok : exitCodes.failed;
  });
}

function show({ screen }: ReadyCall, report: VerifyReport): void {
  const { sessions, frames, contents, bodies, pages, damage } = report;
  const looked =
    report.scope === "all"
      ? [manyText(contents, "content"), `${bodies} bodies`, manyText(pages, "page")]
      : ["the newest of every session"];
  const found = damage.length === 0 ? "no damage" : `${damage.length} damaged`;
  screen.out([manyText(sessions, "session"), manyText(frames, "frame"), ...looked, found].join(", "));
  for (const { where, problem } of damage) screen.out(`${printable(where, 80)}: ${printable(problem, 200)}`);
}
