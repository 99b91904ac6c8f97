import { type Random, seededRandom } from "../../src/base/index.ts";
import type { ModelReply, ReplyBlock, ScriptedModel, UpstreamExchange } from "../../src/testing/index.ts";
import { manifestStart } from "../support/own-lines.ts";
import { type ClientMessage, promptOf, TestClient, type TestClientOptions } from "../support/test-client.ts";
import { toolText, toolTokens } from "./run-texts.ts";

/** A client whose user speaks once: from then on it only gives results, of all sizes. */
export class LongRunClient extends TestClient {
  readonly #random: Random;

  constructor({ seed, ...options }: TestClientOptions & { readonly seed: number }) {
    super(options);
    this.#random = seededRandom(seed);
  }

  override next(text: string): ClientMessage {
    const { role, content } = super.next(text);
    return {
      role,
      content: content.map((block) =>
        block.type === "tool_result" ? { ...block, content: this.#result() } : block,
      ),
    };
  }

  #result(): string {
    return toolText(this.#random.below(2 ** 30), toolTokens(this.#random));
  }
}

/** A model that never stops calling tools: thoughts in every answer, several calls now and then. */
export function runModel(seed: number): ScriptedModel {
  const random = seededRandom(seed);
  let n = 0;
  return (): ModelReply => {
    n += 1;
    const thinking = `Step ${n}: ${toolText(random.below(2 ** 30), 40 + random.below(300))}`;
    const calls = random.below(5) === 0 ? 2 + random.below(2) : 1;
    const said: readonly ReplyBlock[] =
      random.below(3) === 0 ? [{ type: "text", text: `Next I look at part ${n}.` }] : [];
    const asked = Array.from({ length: calls }, (_, at) => callOf(random, { n, at }));
    return { content: [{ type: "thinking", thinking }, ...said, ...asked] };
  };
}

function callOf(random: Random, { n, at }: { readonly n: number; readonly at: number }): ReplyBlock {
  const isLarge = random.below(6) === 0;
  const text = isLarge ? { text: toolText(random.below(2 ** 30), 300 + random.below(900)) } : {};
  return { type: "tool_use", name: at === 1 ? "find" : "look", input: { n, at, ...text } };
}

/** A request that did not go on from the one before it: which, counted from 1, and the tokens of both. */
export type RunRewrite = {
  readonly n: number;
  readonly from: number;
  readonly to: number;
  /** How many thoughts of the model it still has. */
  readonly thoughts: number;
};

/** Looks at every request of a run once it was answered, and keeps what is worth telling. */
export class RunWatch {
  readonly rewrites: RunRewrite[] = [];
  readonly refusals: string[] = [];
  /** What had to be said as the client says it, and was not. */
  readonly changed: string[] = [];
  /** Tokens of the largest prompt. */
  largest = 0;
  requests = 0;
  #tokens = 0;
  #before: readonly string[] = [];

  look(talker: TestClient, exchanges: readonly UpstreamExchange[]): void {
    for (const exchange of exchanges.slice(this.requests)) {
      this.requests += 1;
      const { n, status, error } = exchange;
      if (status !== 200) this.refusals.push(`${n}: ${status} ${error?.message}`);
      const from = this.#tokens;
      this.#tokens = promptTokens(exchange);
      this.largest = Math.max(this.largest, this.#tokens);
      const prompt = promptOf(exchange.body);
      const thoughts = prompt.filter((unit) => unit.includes('{"type":"thinking"')).length;
      if (!goesOn(this.#before, prompt)) this.rewrites.push({ n, from, to: this.#tokens, thoughts });
      this.#before = prompt;
      const changed = lastSaid(talker).filter((unit) => !prompt.includes(unit));
      this.changed.push(...changed.map((unit) => `${n}: ${unit.slice(0, 200)}`));
    }
  }
}

/** Tokens of a prompt, as the upstream has counted them. */
function promptTokens({ usage }: UpstreamExchange): number {
  if (usage === null) return 0;
  const { input_tokens: plain, cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage;
  return plain + written + read;
}

/** Our last words about the context may be gone: they hold for one request. */
function goesOn(before: readonly string[], now: readonly string[]): boolean {
  const kept = manifestStart.test(before.at(-1) ?? "") ? before.slice(0, -1) : before;
  return kept.every((unit, at) => unit === now[at]);
}

/** What the model said before its last answer, and what came back to that; its thoughts aside. */
function lastSaid({ messages }: TestClient): readonly string[] {
  return messages.slice(-3, -1).flatMap(({ role, content }) => {
    const said = content.filter(({ type }) => type !== "thinking");
    return said.map((block) => JSON.stringify([{ role }, block]));
  });
}
