import type { ManifestAnswer, RangeRow } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { manyText } from "../format/numbers.ts";
import { printable, printableLines } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";
import { watching } from "../watching.ts";

const rangesShownMax = 20;

export async function manifest(call: ReadyCall): Promise<number> {
  return await watching(call, look, call.operands[0]);
}

async function look(call: ReadyCall): Promise<number> {
  const { api, flags, screen, operands } = call;
  const found = await findSession(api, sessionWord(call, operands[0]));
  if (!found.ok) return giveUp(call, found.problem);
  const detail = flags.has("detailed") ? "detailed" : "summary";
  const query = { detail, stream: flags.get("stream") };
  const reply = await api.json<ManifestAnswer>(sessionPath(found.value.session.id, "/manifest", query));
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { text, mode, ranges } = reply.value.value;
  screen.out(printableLines(text));
  if (isQuiet(call)) return exitCodes.ok;
  for (const line of rangeLines(ranges)) screen.err(line);
  if (mode === "observe") screen.err("This session is only observed: its model is not told.");
  return exitCodes.ok;
}

/** Counted in the store, so that nobody has to believe what the model is told. */
function rangeLines(ranges: readonly RangeRow[]): readonly string[] {
  const lines = ranges.slice(0, rangesShownMax).map(({ from, to, reasons, signatures }) => {
    const why = reasons.length === 0 ? "" : ` (${printable(reasons.join(", "), 80)})`;
    return `pruned: messages ${from} to ${to}${why}, ${manyText(signatures, "signature")} preserved`;
  });
  const more = ranges.length - rangesShownMax;
  return more > 0 ? [...lines, `and ${manyText(more, "range")} more`] : lines;
}
