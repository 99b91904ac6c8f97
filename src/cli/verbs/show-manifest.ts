import type { ManifestAnswer, RangeRow } from "../../queries/answers/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { runOrWatch } from "../api/watch.ts";
import { exitCodes } from "../exit-codes.ts";
import { pluralText } from "../format/number-text.ts";
import { printable, printableLines } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

const rangesShownMax = 20;

export async function manifest(call: ReadyCall): Promise<number> {
  return await runOrWatch(call, showOnce, call.operands[0]);
}

async function showOnce(call: ReadyCall): Promise<number> {
  const { api, flags, screen, operands } = call;
  const found = await findSession(api, sessionArgument(call, operands[0]));
  if (!found.ok) return reportProblem(call, found.problem);
  const detail = flags.has("detailed") ? "detailed" : "summary";
  const query = { detail, stream: flags.get("stream") };
  const reply = await api.json<ManifestAnswer>(sessionPath(found.value.session.id, "/manifest", query));
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { text, mode, ranges } = reply.value.value;
  screen.out(printableLines(text));
  if (isQuiet(call)) return exitCodes.ok;
  for (const line of rangeLines(ranges)) screen.err(line);
  if (mode === "observe") screen.err("This session is only observed: its model does not get the manifest.");
  return exitCodes.ok;
}

/** Counted in the store, independent of what the model is told. */
function rangeLines(ranges: readonly RangeRow[]): readonly string[] {
  const lines = ranges.slice(0, rangesShownMax).map(({ from, to, reasons, signatures }) => {
    const why = reasons.length === 0 ? "" : ` (${printable(reasons.join(", "), 80)})`;
    return `pruned: messages ${from} to ${to}${why}, ${pluralText(signatures, "signature")} preserved`;
  });
  const more = ranges.length - rangesShownMax;
  return more > 0 ? [...lines, `and ${pluralText(more, "more range")}`] : lines;
}
