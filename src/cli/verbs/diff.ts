import type { StateRow } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { manyText, tokensText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { type Difference, differenceOf, differenceRows } from "../format/state-diff.ts";
import { aligned } from "../format/table.ts";
import { windowText } from "../format/window.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";
import { diffSince } from "./act.ts";

/** Without numbers, what the model is told has changed; with two, how one state became the other. */
export async function diff(call: ReadyCall): Promise<number> {
  if (call.operands.length === 0) return await diffSince(call);
  const seqs = seqsIn(call);
  if (!seqs.ok) return giveUp(call, seqs.problem);
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const { id } = found.value.session;
  const states: StateRow[] = [];
  for (const at of [seqs.value.from, seqs.value.to]) {
    const path = sessionPath(id, "/state", { at, stream: call.flags.get("stream") });
    const reply = await call.api.json<StateRow>(path);
    if (!reply.ok) return giveUp(call, reply.problem);
    states.push(reply.value.value);
  }
  const [before, after] = states;
  if (before === undefined || after === undefined) return exitCodes.failed;
  const difference = differenceOf({ before, after });
  if (wantsJson(call)) return printJson(call, JSON.stringify({ v: 1, session: id, ...difference }));
  return show(call, { before, after, difference });
}

function seqsIn({ operands, flags }: ReadyCall): Outcome<{ readonly from: number; readonly to: number }> {
  const [from = "", to = ""] = operands;
  if (flags.has("since")) return stop(exitCodes.usage, "Choose: two seqs, or --since a turn.");
  const wrong = [from, to].find((word) => !/^[1-9]\d{0,9}$/.test(word));
  if (wrong === undefined) return succeed({ from: Number(from), to: Number(to) });
  const said = wrong === "" ? "the second is missing" : `not "${printable(wrong, 40)}"`;
  return stop(exitCodes.usage, `diff takes two seqs, as \`aperture log\` shows them; ${said}.`);
}

type Shown = { readonly before: StateRow; readonly after: StateRow; readonly difference: Difference };

function show(call: ReadyCall, { before, after, difference }: Shown): number {
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
  for (const line of aligned(differenceRows(difference), screen.paint)) screen.out(line);
  if (!isQuiet(call)) {
    const counts = [
      manyText(added.length, "new block"),
      `${changed.length} changed`,
      `${gone.length} not there any more`,
    ];
    screen.err(counts.join(", "));
  }
  return exitCodes.ok;
}
