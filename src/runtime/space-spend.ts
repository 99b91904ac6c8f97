import type { StreamId } from "../base/index.ts";
import { pricesOf } from "../config/index.ts";
import type { Usage } from "../engine/frames/index.ts";
import { exchangeOf, type Moment } from "../engine/moment/index.ts";
import { promptPrice } from "../policy/index.ts";

/** Turns, tokens and price of agents so far, as their providers counted them. */
export type SpaceSpend = {
  readonly turns: number;
  readonly usage: Usage;
  /** Estimated US dollars by the models' prices. Null if the price of a model is not known. */
  readonly usd: number | null;
};

const noSpend: SpaceSpend = { turns: 0, usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }, usd: 0 };

/** Sums up all agents, one agent, or one stream. */
export function spendIn(
  moment: Moment,
  { agent, stream }: { readonly agent?: string | undefined; readonly stream?: StreamId | undefined },
): SpaceSpend {
  let sum = noSpend;
  for (const [, view] of moment.state.views.entries()) {
    const isSelected =
      (agent === undefined || view.agent === agent) && (stream === undefined || view.stream === stream);
    for (const [, { exchange }] of isSelected ? view.sent.entries() : []) {
      const turn = exchangeOf(moment, exchange);
      if (turn?.end?.usage) sum = withTurn(sum, turn.model, turn.end.usage);
    }
  }
  return sum;
}

function withTurn({ turns, usage, usd }: SpaceSpend, model: string | null, used: Usage): SpaceSpend {
  const { input: fresh, cacheRead: read, cacheWrite: written, output } = used;
  const price = promptPrice({ fresh, read, written, output }, pricesOf(model));
  return {
    turns: turns + 1,
    usage: {
      input: usage.input + fresh,
      cacheRead: usage.cacheRead + read,
      cacheWrite: usage.cacheWrite + written,
      output: usage.output + output,
    },
    usd: usd === null || price.usd === null ? null : usd + price.usd,
  };
}
