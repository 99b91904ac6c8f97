import { messageTokens } from "../../src/analysis/index.ts";
import type { BlockKind, Usage } from "../../src/engine/index.ts";
import { unitTokens } from "../../src/session/index.ts";
import { type Asked, estimateOverhead, estimatePart } from "../../src/tokens/index.ts";
import type { RecordedTurn, Recording, WireMessage } from "../../src/transcripts/index.ts";

/** A request of a recording as the predictor is asked about it, and the usage reported for it afterwards. */
export type Replayed = { readonly asked: Asked; readonly usage: Usage | null };

/** What a message is estimated at: by its parts, or as the product does it, by the bytes of its units. */
export type SizeOf = (message: WireMessage, model: string) => number;

export function* replay(
  recording: Recording,
  turns = recording.turns,
  sizeOf: SizeOf = messageTokens,
): Generator<Replayed> {
  const model = turns.find(({ m }) => m?.model !== undefined)?.m?.model ?? recording.models[0] ?? "unknown";
  const head = headTokens(recording, model);
  let sizes: number[] = [];
  let answer = 0;
  let before = 0;
  for (const turn of turns) {
    const its = turn.m?.model ?? model;
    const kept = turn.k ?? sizes.length;
    const isExtended = kept >= sizes.length;
    const history = sizes.slice(0, kept);
    sizes = [...history, ...turn.c.map((message) => sizeOf(message, its))];
    const prompt = head + sum(sizes);
    const shared = isExtended ? before : head + sum(history);
    yield {
      asked: { model: its, prompt, kept: shared, answer: isExtended ? answer : 0 },
      usage: usageOf(turn),
    };
    answer = sizeOf({ role: "assistant", content: turn.a }, its);
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

/** As the record sizes what was sent. */
export function unitsTokens({ role, content }: WireMessage, model: string): number {
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
