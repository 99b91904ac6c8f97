import type { StreamId } from "../../src/base/index.ts";
import {
  bodyForms,
  exchangeOutcomes,
  exchangeRelations,
  protocolNames,
} from "../../src/engine/frames/exchange.ts";
import type { Delta } from "../../src/engine/frames/index.ts";
import type { State } from "../../src/engine/index.ts";
import { deltaExamples } from "./delta-examples.ts";

type Chance = { readonly b: number; readonly c: number };

export function openingOf(state: State, stream: StreamId, { b, c }: Chance): Delta {
  const { rendering: _, ...exchange } = deltaExamples["exchange-opened"].exchange;
  const id = state.exchanges.size + 1;
  const relation = exchangeRelations[b % exchangeRelations.length] ?? "none";
  const of = id > 1 && c % 2 === 0 ? 1 + (b % (id - 1)) : null;
  const rendering = bodyForms[c % (bodyForms.length + 1)];
  const protocol = protocolNames[b % (protocolNames.length + 1)];
  const said = {
    ...(rendering === undefined ? {} : { rendering }),
    ...(protocol === undefined ? {} : { protocol }),
  };
  const opened = { ...exchange, ...said, id, stream: c % 3 === 0 ? null : stream, relation, of, bytes: c };
  return { type: "exchange-opened", exchange: opened };
}

/** Null where nothing is open. */
export function closingOf(state: State, { b, c }: Chance): Delta | null {
  const open = [...state.exchanges.entries()].filter(([, { end }]) => end === null);
  const found = open[b % Math.max(1, open.length)]?.[1];
  if (found === undefined) return null;
  const outcome = exchangeOutcomes[c % exchangeOutcomes.length] ?? "complete";
  const end = { ...deltaExamples["exchange-closed"].end, exchange: found.id, outcome, bytes: b };
  return { type: "exchange-closed", end };
}
