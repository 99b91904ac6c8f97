import { must, ok, type Result, type Turn, turnOf } from "../../base/index.ts";
import type { Block, BlockKind } from "../../engine/frames/index.ts";
import { changes, ruleChanges, type View } from "../../engine/index.ts";
import { agentDefaults } from "../agent.ts";
import { viewOfRun } from "../prompt/render-run.ts";
import { isCompleteStop, type ModelAnswer, type WireBlock } from "../provider.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import { runStatusOf } from "../run-status.ts";
import { isReasoningType, sendableAnswer, wireBytes } from "../sendable.ts";
import { SpaceDraft } from "../space-draft.ts";
import { promptEndDeltas } from "./prompt-end.ts";
import { addResult, failedOutcome } from "./tool-outcome.ts";

/**
 * Records an answer. An answer without calls ends the run in the same frame. If the answer was cut off, the
 * frame also holds a failed result for each of its calls, because they may be incomplete.
 */
export async function recordAnswer(
  deps: RunDeps,
  run: AgentRun,
  { answer, totalMs }: { readonly answer: ModelAnswer; readonly totalMs: number },
): Promise<Result<void>> {
  const { log, index } = deps;
  const { agent, cache } = run;
  const moment = log.moment();
  const view = viewOfRun(moment, run);
  const sent = must(view.sent.last, "what is answered was sent");
  const draft = new SpaceDraft(log);
  const message = draft.newMessage(view.stream);
  const content = sendableAnswer(answer.content, {
    isUsed: (id) => cache.path?.hasCall(id) ?? false,
    newId: (at) => `call_${message}_${at}`,
  });
  const hasCalls = content.some(({ type }) => type === "tool_use");
  const isCut = !isCompleteStop(answer.stop);
  const calls: Block[] = [];
  for (const block of content) {
    const kind = kindOf(block);
    const pair = hasCalls && kind !== "assistant" ? message : null;
    const bytes = wireBytes(block);
    const named = kind === "tool-call" ? { anchor: String(block["id"]) } : {};
    const added = draft.addBlock({
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
  for (const call of isCut ? calls : [])
    addResult(draft, moment, { ...failedOutcome(cutOffText(run)), call });
  if (!hasCalls) for (const { id } of runStatusOf(moment, view, index).current) draft.removeBlock(id);
  const notice = hasCalls ? null : endNotice(run, answer.stop, content.length > 0);
  if (notice !== null)
    draft.addText({
      kind: "notice",
      stream: view.stream,
      speaker: "space",
      taint: "untrusted",
      text: notice,
    });
  const bytes = Buffer.byteLength(JSON.stringify(answer.content));
  const deltas = [
    ...draft.deltas,
    ...promptEndDeltas(view, sent, { outcome: "complete", totalMs, bytes, answer }),
  ];
  const { contents } = draft;
  const frame = { stream: view.stream, actor: "model", cause: "response", deltas, contents } as const;
  const appended = await log.appendDurably(frame);
  if (!appended.ok) return appended;
  if (notice !== null) deps.emit({ type: "notice", stream: deps.streamName(view.stream), text: notice });
  cache.learnRate(answer.usage, cache.path);
  return expireAfterTurn(deps, run);
}

function cutOffText({ agent: { maxTokens = agentDefaults.maxTokens } }: AgentRun): string {
  return (
    "This call was not made: your answer was cut off before it was complete. " +
    `An answer may have ${maxTokens} tokens; make the call again with less in it.`
  );
}

/**
 * The notice for people in the stream about an answer that is missing or incomplete. Null if none is needed.
 */
function endNotice({ agent }: AgentRun, stop: string, hasContent: boolean): string | null {
  const { name, maxTokens = agentDefaults.maxTokens } = agent;
  if (stop === "refusal") return `${name} refused to answer.`;
  if (stop === "max_tokens") return `${name} was cut off: an answer may have ${maxTokens} tokens.`;
  if (stop === "model_context_window_exceeded") return `${name} was cut off: the model has no more room.`;
  return hasContent ? null : `${name} had nothing to say.`;
}

function kindOf({ type }: WireBlock): BlockKind {
  if (isReasoningType(type)) return "reasoning";
  return type === "tool_use" ? "tool-call" : "assistant";
}

/** Lowers blocks and drops approvals whose time is up after a turn. */
function expireAfterTurn({ log }: RunDeps, run: AgentRun): Result<void> {
  const moment = log.moment();
  const view = viewOfRun(moment, run);
  const lowered = changes.expire({ moment, view, actor: "policy" }, expiredThroughTurn(view));
  const deltas = [...lowered.deltas, ...ruleChanges.expireApprovals({ moment, view })];
  if (deltas.length === 0) return ok(undefined);
  const appended = log.append({ stream: view.stream, actor: "policy", cause: "policy", deltas });
  return appended.ok ? ok(undefined) : appended;
}

/**
 * The last turn for which blocks of the view were surely expired. Turns count for the whole stream, so other
 * agents may have had many since. It is the second answer before this one, not the first: a crash right after
 * an answer leaves it without expiry, and a block that was lowered once is not due again.
 */
function expiredThroughTurn({ answers }: View): Turn {
  let complete = 0;
  for (let at = answers.size - 1; at >= 0; at -= 1) {
    const { outcome, turn } = must(answers.get(at), "answers have no gaps");
    complete += outcome === "complete" ? 1 : 0;
    if (complete === 3) return turn;
  }
  return turnOf(0);
}
