import type { Usage } from "../engine/frames/index.ts";
import type { SentRequest, SentRequestUnit } from "../exchange/index.ts";
import type { AnswerUnit } from "../protocols/index.ts";
import {
  type Budget,
  budgetOf,
  type Calibration,
  type EstimatedPrompt,
  noCalibration,
  observe,
  rateFor,
  unitTokens,
} from "../tokens/index.ts";

/** The estimated parts of a sent prompt, and the tokens its client reserves for the answer. */
type PromptEstimate = EstimatedPrompt & {
  readonly answerMax: number;
  /** False after a restart, when the size of earlier units is unknown. */
  readonly isWhole: boolean;
};

export type SentPrompt = {
  readonly exchange: number;
  readonly sent: Pick<SentRequest, "fresh" | "leaf">;
  readonly model: string | null;
  readonly answerMax: number;
};

/** A stream never has more requests than this open at once. */
const openMax = 256;

/** The prompt sizes of a stream: estimated when a prompt is sent, corrected by the reported usage. */
export class PromptSizes {
  /** Estimated tokens from the first unit up to each node. */
  readonly #tokensUpTo = new Map<string, number>();
  readonly #open = new Map<number, PromptEstimate>();
  #calibration: Calibration = noCalibration;
  #last: (PromptEstimate & { readonly answerTokens: number }) | null = null;

  noteSent({ exchange, sent, model, answerMax }: SentPrompt): void {
    const [first] = sent.fresh;
    const kept = first === undefined ? this.#tokensAt(sent.leaf) : this.#tokensAt(first.parent);
    const before = first === undefined ? sent.leaf : first.parent;
    const isWhole = before === null || this.#tokensUpTo.has(before);
    let answer = 0;
    for (const unit of sent.fresh) {
      const tokens = unitTokens({ bytes: unit.bytes, kind: kindOf(unit) }, model);
      if (unit.origin === "model") answer += tokens;
      this.#tokensUpTo.set(unit.id, this.#tokensAt(unit.parent) + tokens);
    }
    const prompt = this.#tokensAt(sent.leaf);
    this.#open.set(exchange, { model: model ?? "", prompt, kept, answer, answerMax, isWhole });
    const [oldest] = this.#open.keys();
    if (this.#open.size > openMax && oldest !== undefined) this.#open.delete(oldest);
  }

  noteAnswer(exchange: number, units: readonly AnswerUnit[], usage: Usage | null): void {
    const prompt = this.#open.get(exchange);
    this.#open.delete(exchange);
    if (prompt === undefined) return;
    this.#calibration = observe(this.#calibration, { ...prompt, usage });
    const answerTokens = units.reduce(
      (sum, { unit, bytes }) => sum + unitTokens({ bytes, kind: unit.kind }, prompt.model),
      0,
    );
    this.#last = prompt.isWhole || usage !== null ? { ...prompt, answerTokens } : this.#last;
  }

  /** The budget of what the next prompt will repeat, without new units; null before the first answer. */
  budget(window: number | null): Budget | null {
    if (this.#last === null) return null;
    const { model, prompt, answerTokens, answerMax } = this.#last;
    const estimate = { model, prompt: prompt + answerTokens, kept: prompt, answer: answerTokens };
    return budgetOf(this.#calibration, {
      estimate,
      window: window ?? Number.MAX_SAFE_INTEGER,
      answerMax,
    });
  }

  /** The provider's count divided by ours. */
  rate(): number {
    return this.#last === null ? 1 : rateFor(this.#calibration, this.#last.model);
  }

  #tokensAt(node: string | null): number {
    return node === null ? 0 : (this.#tokensUpTo.get(node) ?? 0);
  }
}

function kindOf({ numbered, origin }: SentRequestUnit) {
  return numbered?.kind ?? (origin === "aperture" ? "ambient" : "user");
}
