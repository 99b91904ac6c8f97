import type { Usage } from "../../engine/index.ts";
import type { AnswerUnit } from "../../protocols/index.ts";
import {
  type Asked,
  type Budget,
  budgetOf,
  type Calibration,
  noCalibration,
  observe,
  rateFor,
} from "../../tokens/index.ts";
import type { SentReport, SentUnit } from "../exchange.ts";
import { unitTokens } from "../unit-tokens.ts";

/** A prompt that was sent: how it is made up, and what its client leaves for the answer. */
type Prompt = Asked & {
  readonly answerMax: number;
  /** Whether all that was sent before is known: after a restart it is not. */
  readonly isWhole: boolean;
};

export type SentPrompt = {
  readonly exchange: number;
  readonly sent: SentReport;
  readonly model: string | null;
  readonly answerMax: number;
};

/** More requests than these are not open at once. */
const openMax = 256;

/** How large the prompts of a stream are: estimated as they are sent, corrected by what is reported. */
export class PromptSizes {
  /** Estimated tokens from the first unit up to each, by place. */
  readonly #upTo = new Map<string, number>();
  readonly #open = new Map<number, Prompt>();
  #calibration: Calibration = noCalibration;
  #last: (Prompt & { readonly said: number }) | null = null;

  sent({ exchange, sent, model, answerMax }: SentPrompt): void {
    const [first] = sent.fresh;
    const kept = first === undefined ? this.#sizeAt(sent.leaf) : this.#sizeAt(first.parent);
    const before = first === undefined ? sent.leaf : first.parent;
    const isWhole = before === null || this.#upTo.has(before);
    let answer = 0;
    for (const unit of sent.fresh) {
      const tokens = unitTokens({ bytes: unit.bytes, kind: kindOf(unit) }, model);
      if (unit.origin === "model") answer += tokens;
      this.#upTo.set(unit.id, this.#sizeAt(unit.parent) + tokens);
    }
    const prompt = this.#sizeAt(sent.leaf);
    this.#open.set(exchange, { model: model ?? "", prompt, kept, answer, answerMax, isWhole });
    const [oldest] = this.#open.keys();
    if (this.#open.size > openMax && oldest !== undefined) this.#open.delete(oldest);
  }

  answered(exchange: number, units: readonly AnswerUnit[], usage: Usage | null): void {
    const prompt = this.#open.get(exchange);
    this.#open.delete(exchange);
    if (prompt === undefined) return;
    this.#calibration = observe(this.#calibration, { ...prompt, usage });
    const said = units.reduce(
      (sum, { unit, bytes }) => sum + unitTokens({ bytes, kind: unit.kind }, prompt.model),
      0,
    );
    this.#last = prompt.isWhole || usage !== null ? { ...prompt, said } : this.#last;
  }

  /** Of what the next prompt will repeat, before anything new; null before the first answer. */
  budget(window: number | null): Budget | null {
    if (this.#last === null) return null;
    const { model, prompt, said, answerMax } = this.#last;
    const asked = { model, prompt: prompt + said, kept: prompt, answer: said };
    return budgetOf(this.#calibration, { asked, window: window ?? Number.MAX_SAFE_INTEGER, answerMax });
  }

  /** What the provider counts for each token we do. */
  rate(): number {
    return this.#last === null ? 1 : rateFor(this.#calibration, this.#last.model);
  }

  #sizeAt(place: string | null): number {
    return place === null ? 0 : (this.#upTo.get(place) ?? 0);
  }
}

function kindOf({ numbered, origin }: SentUnit) {
  return numbered?.kind ?? (origin === "aperture" ? "ambient" : "user");
}
