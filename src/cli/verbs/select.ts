import type { SelectAnswer, SelectedRow, SelectionAnswer } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { manyText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { readBlocks } from "../targets.ts";
import { exitCodes } from "../usage.ts";

const namedMax = 20;
const skippedMax = 5;

/** With targets it selects exactly those, with --clear none; with neither it only looks. */
export async function select(call: ReadyCall): Promise<number> {
  const wanted = wantedBlocks(call);
  if (!wanted.ok) return giveUp(call, wanted.problem);
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const path = sessionPath(found.value.session.id, "/selection", { stream: call.flags.get("stream") });
  const blocks = wanted.value;
  const reply =
    blocks === null
      ? await call.api.json<SelectionAnswer & Partial<SelectAnswer>>(path)
      : await call.api.put<SelectAnswer>(path, { blocks });
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  return show(call, reply.value.value);
}

/** Null: nothing is to be changed. */
function wantedBlocks({ operands, flags }: ReadyCall): Outcome<readonly number[] | null> {
  if (!flags.has("clear")) return operands.length === 0 ? succeed(null) : readBlocks(operands);
  return operands.length === 0
    ? succeed([])
    : stop(exitCodes.usage, "--clear selects nothing at all; leave the blocks out, or leave --clear out.");
}

function show(call: ReadyCall, answer: SelectionAnswer & Partial<SelectAnswer>): number {
  const { screen } = call;
  screen.out(answer.selected.length === 0 ? "nothing is selected" : `selected ${namesOf(answer.selected)}`);
  for (const { message } of (answer.skipped ?? []).slice(0, skippedMax)) screen.err(printable(message, 300));
  const more = (answer.skipped ?? []).length - skippedMax;
  if (more > 0) screen.err(`${manyText(more, "more block")} that are not there.`);
  if (isQuiet(call)) return exitCodes.ok;
  for (const line of toldLines(answer)) screen.err(line);
  if (answer.selected.length === 0 && answer.skipped === undefined) screen.err(howTo);
  return exitCodes.ok;
}

/** A shell that takes `#12` for a remark runs `select` without it, and nobody would know why. */
const howTo = "To select blocks: aperture select 12 27. In most shells a # needs quotes: '#12'.";

function namesOf(selected: readonly SelectedRow[]): string {
  const names = selected.slice(0, namedMax).map(({ block, name }) => {
    return name === null ? `#${block}` : `#${block} (${printable(name, 40)})`;
  });
  const more = selected.length - namedMax;
  return [...names, ...(more > 0 ? [`and ${more} more`] : [])].join(" ");
}

function toldLines({ mode, told, selected }: SelectionAnswer): readonly string[] {
  if (mode === "observe") return ["This session is only observed: its model is not told."];
  const absent = selected.filter((row) => !row.told);
  const missing = absent.length === 0 ? [] : [`Not in its window, so not mentioned: ${namesOf(absent)}`];
  if (told === null) return ["Its model will be told of no selection.", ...missing];
  return [`The tail of its next turn says: ${printable(told, 300)}`, ...missing];
}
