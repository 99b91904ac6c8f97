import { must, ok, type Result, type StreamId } from "../../base/index.ts";
import type { Block, BlockKind } from "../../engine/frames/index.ts";
import type { SentTurn } from "../../engine/index.ts";
import { attributesOf, type Moment } from "../../engine/moment/index.ts";
import type { AnswerUnit, WireUnit } from "../../protocols/index.ts";
import type { PolicyWriter, ShownContent } from "../../recorder/index.ts";
import { agentDefaults } from "../agent.ts";
import { answerUnits } from "../prompt/answer-units.ts";
import { viewOfRun } from "../prompt/plan-prompt.ts";
import type { ModelAnswer } from "../provider.ts";
import { sendableAnswer } from "../providers/sendable-answer.ts";
import { isCompleteStop } from "../providers/stop-reason.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import { runStatusOf } from "../run-status.ts";
import { wire } from "../runtime-protocol.ts";
import { wireBytes } from "../sendable.ts";
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
  const { log } = deps;
  const { agentStream } = run;
  const moment = log.moment();
  const view = viewOfRun(moment, run);
  const sent = must(view.sent.last, "what is answered was sent");
  const draft = new SpaceDraft(log);
  const { units, added } = draftAnswer(draft, run, { content: answer.content, stream: view.stream, sent });
  const calls = added.filter(({ kind }) => kind === "tool-call");
  for (const call of isCompleteStop(answer.stop) ? [] : calls)
    addResult(draft, moment, { ...failedOutcome(cutOffText(run)), call });
  const notice = calls.length > 0 ? null : endNotice(run, answer.stop, added.length > 0);
  if (calls.length === 0) {
    for (const { id } of runStatusOf(moment, view, deps.index).current) draft.removeBlock(id);
    if (notice !== null) draft.addText({ ...noticeFrom, stream: view.stream, text: notice });
  }
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
  const { exchange, turn } = sent;
  const shown = added.map((block, at) => shownContent(log.moment(), block, units[at]));
  agentStream.noteAnswer({ exchange, turn, units, added: shown, usage: answer.usage });
  return await applyPolicy(deps, run, units);
}

const noticeFrom = { kind: "notice", speaker: "space", taint: "untrusted" } as const;

type AnswerBlocksInput = {
  readonly content: ModelAnswer["content"];
  readonly stream: StreamId;
  readonly sent: SentTurn;
};

/** Adds a block for each unit of an answer. */
function draftAnswer(
  draft: SpaceDraft,
  { agent, agentStream }: AgentRun,
  { content, stream, sent: { turn } }: AnswerBlocksInput,
): { readonly units: readonly AnswerUnit[]; readonly added: readonly Block[] } {
  const message = draft.newMessage(stream);
  const sent = agentStream.last?.units ?? [];
  const usedIds = new Set(sent.flatMap(({ block }) => (block?.kind === "tool-call" ? [block.anchor] : [])));
  const blocks = sendableAnswer(content, {
    isUsed: (id) => usedIds.has(id),
    newId: (at) => `call_${message}_${at}`,
  });
  const units = answerUnits(blocks.map(wireBytes));
  const hasCalls = units.some(({ unit }) => unit.part === "call");
  const added = units.map(({ unit, bytes }) => {
    const kind = kindOf(unit);
    const pair = hasCalls && kind !== "assistant" ? message : null;
    const part = wire.read.part(bytes);
    const named = part.type === "call" ? { anchor: part.id } : {};
    const common = { stream, speaker: agent.name, taint: "model", message, turn } as const;
    return draft.addBlock({ ...common, ...named, kind, bytes, pair });
  });
  return { units, added };
}

/** Calls that the provider runs itself are words of the model: they have no result of ours. */
function kindOf({ part }: WireUnit): BlockKind {
  return part === "reasoning" ? "reasoning" : part === "call" ? "tool-call" : "assistant";
}

function shownContent(moment: Moment, block: Block, unit: AnswerUnit | undefined): ShownContent {
  const tokens = attributesOf(moment, block.id)?.tokens ?? { count: 0, exact: false };
  return { block, tokens, bytes: must(unit, "every block is a unit").bytes };
}

/** Policy reads and writes facts, so no command of an agent may come between. */
async function applyPolicy(
  { log }: RunDeps,
  { agent, agentStream }: AgentRun,
  units: readonly AnswerUnit[],
): Promise<Result<void>> {
  const { stream, recorder } = agentStream;
  const writer: PolicyWriter = {
    state: () => log.state(),
    append: (frame) => {
      const appended = log.append({ ...frame, stream });
      return appended.ok ? ok(undefined) : appended;
    },
  };
  const texts = units.flatMap(({ bytes }) => wire.read.text(bytes) ?? []);
  // An agent that cannot ask for a block again keeps what it has.
  const policy = agent.memory === false ? "off" : "auto";
  const input = { answer: texts.join("\n"), model: agent.model, policy, store: log.contents } as const;
  return await log.runExclusively(() => recorder.afterTurn(writer, input));
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
