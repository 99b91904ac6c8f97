import { ok, type Result } from "../../base/index.ts";
import type { Moment } from "../../engine/index.ts";
import { chosenStream, modelIn } from "./look.ts";
import { memoryOf } from "./memory.ts";
import type { Library, StateQuestion } from "./questions.ts";
import { reservedIn } from "./reserved.ts";
import type { StateRow } from "./rows.ts";
import { stateRow } from "./state-row.ts";

/** The state with all its rows, or some of them: what a reader shows first, then the rest in pieces. */
export async function stateAnswer(
  library: Library,
  moment: Moment,
  { stream, from = 0, rows }: StateQuestion,
): Promise<Result<StateRow>> {
  const whole = wholeState(library, moment, { stream, reserved: await reservedIn(library, moment, stream) });
  if (!whole.ok) return whole;
  const { blocks } = whole.value;
  const wanted = rows === undefined ? blocks.length : rows;
  return ok({ ...whole.value, head: moment.state.seq, blocks: blocks.slice(from, from + wanted) });
}

type Wanted = { readonly stream: number | undefined; readonly reserved: number | null };

/** As of a seq it is always the same: whoever reads it in pieces has it made once. */
function wholeState(library: Library, moment: Moment, { stream, reserved }: Wanted): Result<StateRow> {
  const chosen = chosenStream(moment, stream);
  if (!chosen.ok) return chosen;
  const { states } = memoryOf(library);
  const size = library.windowOf(modelIn(moment, chosen.value));
  const key = [moment.state.session, moment.seq, chosen.value?.id, size, reserved].join(" ");
  const known = states.get(key);
  if (known !== null) return ok(known);
  const made = stateRow(moment, stream, { windowOf: () => size, reserved });
  if (made.ok) states.set(key, made.value);
  return made;
}
