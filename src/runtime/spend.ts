import type { StreamId } from "../base/index.ts";
import { pricesOf } from "../config/index.ts";
import { exchangeOf, type Moment, type Usage } from "../engine/index.ts";
import { promptPrice } from "../render/index.ts";

/** What agents were sent and said so far, as their providers have counted it. */
export type Spend = {
  readonly turns: number;
  readonly usage: Usage;
  /** US dollars by the prices of the models, an estimate; null where one of them is not known. */
  readonly usd: number | null;
};

const nothing: Spend = { turns: 0, usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }, usd: 0 };

/** Of everybody, of an agent, or in a stream. */
export function spendIn(
  moment: Moment,
  { agent, stream }: { readonly agent?: string | undefined; readonly stream?: StreamId | undefined },
): Spend {
  let sum = nothing;
  for (const [, view] of moment.state.views.entries()) {
    const isMeant =
      (agent === undefined || view.agent === agent) && (stream === undefined || view.stream === stream);
    for (const [, { exchange }] of isMeant ? view.sent.entries() : []) {
      const turn = exchangeOf(moment, exchange);
      if (turn?.end?.usage) sum = withTurn(sum, turn.model, turn.end.usage);
    }
  }
  return sum;
}

function withTurn({ turns, usage, usd }: Spend, model: string | null, used: Usage): Spend {
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
