import { must, ok, type Result, type Turn, turnOf } from "../base/index.ts";
import { type Block, type BlockKind, expire, expireApprovals, type View } from "../engine/index.ts";
import { usual } from "./agent.ts";
import { askedOf } from "./asked.ts";
import { closingDeltas } from "./closing.ts";
import { Draft } from "./draft.ts";
import { isWholeStop, type ModelAnswer, type WireBlock } from "./provider.ts";
import { viewIn } from "./rendering.ts";
import { addResult, failed } from "./result.ts";
import type { Run, RunPlace } from "./run-place.ts";
import { isReasoning, takeableAnswer, wireBytes } from "./takeable.ts";

type Answered = { readonly answer: ModelAnswer; readonly totalMs: number };

/**
 * What was said, and in the same frame that the run is over, if nothing was called; or that its calls are not
 * made, if the answer was cut off: what came of one may not be all of it.
 */
export async function recordAnswer(
  place: RunPlace,
  run: Run,
  { answer, totalMs }: Answered,
): Promise<Result<void>> {
  const { log, standing } = place;
  const { agent, memory } = run;
  const moment = log.moment();
  const view = viewIn(moment, run);
  const sent = must(view.sent.last, "what is answered was sent");
  const draft = new Draft(log);
  const message = draft.message(view.stream);
  const said = takeableAnswer(answer.content, {
    isUsed: (id) => memory.path?.hasCall(id) ?? false,
    newId: (at) => `call_${message}_${at}`,
  });
  const hasCalls = said.some(({ type }) => type === "tool_use");
  const isCut = !isWholeStop(answer.stop);
  const calls: Block[] = [];
  for (const block of said) {
    const kind = kindOf(block);
    const pair = hasCalls && kind !== "assistant" ? message : null;
    const bytes = wireBytes(block);
    const named = kind === "tool-call" ? { anchor: String(block["id"]) } : {};
    const added = draft.block({
      kind,
      stream: view.stream,
      speaker: agent.name,
      taint: "model",
      bytes,
      pair,
      message,
      turn: sent.turn,
      ...named,
    });
    if (kind === "tool-call") calls.push(added);
  }
  for (const call of isCut ? calls : []) addResult(draft, moment, { ...failed(cutOffText(run)), call });
  if (!hasCalls) for (const { id } of askedOf(moment, view, standing).answering) draft.remove(id);
  const notice = hasCalls ? null : endNotice(run, answer.stop, said.length > 0);
  if (notice !== null)
    draft.text({ kind: "notice", stream: view.stream, speaker: "space", taint: "untrusted", text: notice });
  const bytes = Buffer.byteLength(JSON.stringify(answer.content));
  const deltas = [
    ...draft.deltas,
    ...closingDeltas(view, sent, { outcome: "complete", totalMs, bytes, answer }),
  ];
  const { contents } = draft;
  const noted = { stream: view.stream, actor: "model", cause: "response", deltas, contents } as const;
  const appended = await log.appendDurably(noted);
  if (!appended.ok) return appended;
  if (notice !== null) place.tell({ type: "notice", stream: place.nameOf(view.stream), text: notice });
  memory.learn(answer.usage, memory.path);
  return settle(place, run);
}

function cutOffText({ agent: { maxTokens = usual.maxTokens } }: Run): string {
  return (
    "This call was not made: your answer was cut off before it was complete. " +
    `An answer may have ${maxTokens} tokens; make the call again with less in it.`
  );
}

/** What people should know of an answer that is less than one. */
function endNotice({ agent }: Run, stop: string, isSaid: boolean): string | null {
  const { name, maxTokens = usual.maxTokens } = agent;
  if (stop === "refusal") return `${name} refused to answer.`;
  if (stop === "max_tokens") return `${name} was cut off: an answer may have ${maxTokens} tokens.`;
  if (stop === "model_context_window_exceeded") return `${name} was cut off: the model has no more room.`;
  return isSaid ? null : `${name} had nothing to say.`;
}

function kindOf({ type }: WireBlock): BlockKind {
  if (isReasoning(type)) return "reasoning";
  return type === "tool_use" ? "tool-call" : "assistant";
}

/** What time does after a turn. */
function settle({ log }: RunPlace, run: Run): Result<void> {
  const moment = log.moment();
  const view = viewIn(moment, run);
  const lowered = expire({ moment, view, actor: "policy" }, settledTurn(view));
  const deltas = [...lowered.deltas, ...expireApprovals({ moment, view })];
  if (deltas.length === 0) return ok(undefined);
  const appended = log.append({ stream: view.stream, actor: "policy", cause: "policy", deltas });
  return appended.ok ? ok(undefined) : appended;
}

/**
 * Up to which turn time has done its work for a view. Turns are those of the stream, so others may have had
 * many since. Not the answer before this one but that before it: whoever was ended right behind an answer has
 * not settled it, and what was lowered once is not due again.
 */
function settledTurn({ answers }: View): Turn {
  let complete = 0;
  for (let at = answers.size - 1; at >= 0; at -= 1) {
    const { outcome, turn } = must(answers.get(at), "answers have no gaps");
    complete += outcome === "complete" ? 1 : 0;
    if (complete === 3) return turn;
  }
  return turnOf(0);
}
