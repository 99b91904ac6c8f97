import type { SelectAnswer } from "../../execute/index.ts";
import type { SelectedRow, SelectionAnswer } from "../../queries/answers/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { pluralText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import { readBlocks } from "../targets.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

const namedMax = 20;
const skippedMax = 5;

/** Selects exactly the given blocks, or none with `--clear`; without either, shows the selection. */
export async function select(call: ReadyCall): Promise<number> {
  const selection = readSelection(call);
  if (!selection.ok) return reportProblem(call, selection.problem);
  const found = await findSession(call.api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const path = sessionPath(found.value.session.id, "/selection", { stream: call.flags.get("stream") });
  const blocks = selection.value;
  const reply =
    blocks === null
      ? await call.api.json<SelectionAnswer & Partial<SelectAnswer>>(path)
      : await call.api.put<SelectAnswer>(path, { blocks });
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  return printSelection(call, reply.value.value);
}

/** Null to change nothing. */
function readSelection({ operands, flags }: ReadyCall): CliResult<readonly number[] | null> {
  if (!flags.has("clear")) return operands.length === 0 ? succeed(null) : readBlocks(operands);
  return operands.length === 0 ? succeed([]) : stop(exitCodes.usage, "Give blocks or --clear, not both.");
}

function printSelection(call: ReadyCall, answer: SelectionAnswer & Partial<SelectAnswer>): number {
  const { screen } = call;
  screen.out(answer.selected.length === 0 ? "nothing is selected" : `selected ${namesOf(answer.selected)}`);
  for (const { message } of (answer.skipped ?? []).slice(0, skippedMax)) screen.err(printable(message, 300));
  const more = (answer.skipped ?? []).length - skippedMax;
  if (more > 0) screen.err(`${pluralText(more, "more block")} that do not exist.`);
  if (isQuiet(call)) return exitCodes.ok;
  for (const line of noticeLines(answer)) screen.err(line);
  if (answer.selected.length === 0 && answer.skipped === undefined) screen.err(howTo);
  return exitCodes.ok;
}

/** In most shells an unquoted `#12` starts a comment, so `select` never sees it. */
const howTo = "To select blocks: aperture select 12 27. In most shells a # needs quotes: '#12'.";

function namesOf(selected: readonly SelectedRow[]): string {
  const names = selected.slice(0, namedMax).map(({ block, name }) => {
    return name === null ? `#${block}` : `#${block} (${printable(name, 40)})`;
  });
  const more = selected.length - namedMax;
  return [...names, ...(more > 0 ? [`and ${more} more`] : [])].join(" ");
}

function noticeLines({ mode, told, selected }: SelectionAnswer): readonly string[] {
  if (mode === "observe") return ["This session is only observed: its model learns nothing of it."];
  const absent = selected.filter((row) => !row.told);
  const missing = absent.length === 0 ? [] : [`Not in the window, so not mentioned: ${namesOf(absent)}`];
  if (told === null) return ["The model will see no selection.", ...missing];
  return [`The next turn tells the model: ${printable(told, 300)}`, ...missing];
}
