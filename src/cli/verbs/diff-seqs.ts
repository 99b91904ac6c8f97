import type { StateRow } from "../../queries/answers/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { pluralText, tokensText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { differenceOf, differenceRows, type StateDifference } from "../format/state-diff.ts";
import { alignRows } from "../format/table.ts";
import { windowText } from "../format/window-text.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";
import { diffSince } from "./change-blocks.ts";

/** Without seqs, the changes as the model is told them; with two, the difference between the states. */
export async function diff(call: ReadyCall): Promise<number> {
  if (call.operands.length === 0) return await diffSince(call);
  const seqs = seqsIn(call);
  if (!seqs.ok) return reportProblem(call, seqs.problem);
  const found = await findSession(call.api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const { id } = found.value.session;
  const states: StateRow[] = [];
  for (const at of [seqs.value.from, seqs.value.to]) {
    const path = sessionPath(id, "/state", { at, stream: call.flags.get("stream") });
    const reply = await call.api.json<StateRow>(path);
    if (!reply.ok) return reportProblem(call, reply.problem);
    states.push(reply.value.value);
  }
  const [before, after] = states;
  if (before === undefined || after === undefined) return exitCodes.failed;
  const difference = differenceOf({ before, after });
  if (wantsJson(call)) return printJson(call, JSON.stringify({ v: 1, session: id, ...difference }));
  return printDifference(call, { before, after, difference });
}

function seqsIn({ operands, flags }: ReadyCall): CliResult<{ readonly from: number; readonly to: number }> {
  const [from = "", to = ""] = operands;
  if (flags.has("since")) return stop(exitCodes.usage, "Give two seqs or --since, not both.");
  const wrong = [from, to].find((word) => !/^[1-9]\d{0,9}$/.test(word));
  if (wrong === undefined) return succeed({ from: Number(from), to: Number(to) });
  const detail = wrong === "" ? "the second one is missing" : `"${printable(wrong, 40)}" is not one`;
  return stop(exitCodes.usage, `diff takes two seqs, as \`aperture log\` lists them; ${detail}.`);
}

type DiffOutput = {
  readonly before: StateRow;
  readonly after: StateRow;
  readonly difference: StateDifference;
};

function printDifference(call: ReadyCall, { before, after, difference }: DiffOutput): number {
  const { screen } = call;
  const change = after.window.used - before.window.used;
  if (!isQuiet(call)) {
    const sign = change < 0 ? "-" : "+";
    screen.out(`seq ${before.seq}  ${windowText(before.window)}`);
    screen.out(`seq ${after.seq}  ${windowText(after.window)}  ${sign}${tokensText(Math.abs(change))}`);
  }
  const { added, gone, changed } = difference;
  if (added.length + gone.length + changed.length === 0) {
    screen.err("No block differs.");
    return exitCodes.ok;
  }
  for (const line of alignRows(differenceRows(difference), screen.paint)) screen.out(line);
  if (!isQuiet(call)) {
    const counts = [
      pluralText(added.length, "new block"),
      `${changed.length} changed`,
      `${gone.length} removed`,
    ];
    screen.err(counts.join(", "));
  }
  return exitCodes.ok;
}
