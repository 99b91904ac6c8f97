import { messageTokens } from "../../src/analysis/play/message-tokens.ts";
import type { BlockKind, Usage } from "../../src/engine/frames/index.ts";
import { type EstimatedPrompt, estimateOverhead, estimatePart, unitTokens } from "../../src/tokens/index.ts";
import type { RecordedMessage, RecordedTurn, Recording } from "../../src/transcripts/index.ts";

/** A request of a recording as an estimate, and the usage reported for it afterwards. */
export type ReplayedPrompt = { readonly estimate: EstimatedPrompt; readonly usage: Usage | null };

/** Estimates a message by turnModel parts, or as the recorder does, by the bytes of turnModel units. */
export type SizeOf = (message: RecordedMessage, model: string) => number;

export function* replay(
  recording: Recording,
  turns = recording.turns,
  sizeOf: SizeOf = messageTokens,
): Generator<ReplayedPrompt> {
  const model = turns.find(({ m }) => m?.model !== undefined)?.m?.model ?? recording.models[0] ?? "unknown";
  const head = headTokens(recording, model);
  let sizes: number[] = [];
  let answer = 0;
  let before = 0;
  for (const turn of turns) {
    const turnModel = turn.m?.model ?? model;
    const kept = turn.k ?? sizes.length;
    const isExtended = kept >= sizes.length;
    const history = sizes.slice(0, kept);
    sizes = [...history, ...turn.c.map((message) => sizeOf(message, turnModel))];
    const prompt = head + sum(sizes);
    const shared = isExtended ? before : head + sum(history);
    yield {
      estimate: { model: turnModel, prompt, kept: shared, answer: isExtended ? answer : 0 },
      usage: usageOf(turn),
    };
    answer = sizeOf({ role: "assistant", content: turn.a }, turnModel);
    before = prompt;
    sizes.push(answer);
  }
}

function headTokens({ system, tools }: Recording, model: string): number {
  const text = system === null ? 0 : estimatePart({ kind: "text", text: textOf(system) }, model);
  return text + estimateOverhead({ messages: 0, tools: tools.length }, model);
}

function usageOf({ m }: RecordedTurn): Usage | null {
  const usage = m?.usage;
  if (usage === undefined) return null;
  return { input: usage.in, cacheRead: usage.cr, cacheWrite: usage.cw, output: usage.out };
}

/** The estimate of the recorder for a message. */
export function unitsTokens({ role, content }: RecordedMessage, model: string): number {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const sized = blocks.map((block) =>
    unitTokens({ bytes: Buffer.from(JSON.stringify(block)), kind: kindOf(role, block.type) }, model),
  );
  return sum(sized);
}

function kindOf(role: string, type: string): BlockKind {
  if (type === "thinking") return "reasoning";
  if (type === "tool_use") return "tool-call";
  if (type === "tool_result") return "tool-result";
  if (type === "image") return "media";
  return role === "assistant" ? "assistant" : "user";
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
