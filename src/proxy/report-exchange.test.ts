import { expect, test } from "vitest";
import type { PlannedRequest } from "../exchange/index.ts";
import {
  type Arrival,
  createRelayedExchange,
  type RelayContext,
  type RelayedExchange,
  type RequestDescription,
} from "./relayed-exchange.ts";
import { recordRequestOnce, reportBeforePlanning } from "./report-exchange.ts";

/** An exchange that has ended, with a recorder and a planner that note their calls. */
function scene() {
  const calls: string[] = [];
  const context = {
    recorder: {
      recordRequest: () => calls.push("recordRequest"),
      recordResend: () => calls.push("recordResend"),
      recordResponse: () => calls.push("recordResponse"),
    },
    planner: { finish: () => calls.push("finish") },
    limits: { keptBytesMax: 100 },
    meter: { add: () => undefined },
    activeExchanges: new Set<RelayedExchange>(),
    unreported: [] as RelayedExchange[],
  } as unknown as RelayContext;
  const route = { protocol: "anthropic" };
  const arrival = { id: "r", route, response: { writableFinished: true } } as unknown as Arrival;
  const exchange = createRelayedExchange(context, arrival, () => undefined);
  exchange.description = { id: "r", caller: { secrets: [] } } as unknown as RequestDescription;
  exchange.report.planned = { clientBody: new Uint8Array(1), sent: null } as unknown as PlannedRequest;
  const phase = { name: "done", outcome: "complete", problem: null } as const;
  exchange.exchange = { ...exchange.exchange, phase };
  return { calls, context, exchange };
}

test("a request that ended before it was recorded is recorded first", () => {
  const { calls, context, exchange } = scene();
  context.unreported.push(exchange);
  recordRequestOnce(exchange);
  expect(calls).toEqual(["recordRequest", "finish", "recordResponse"]);
});

test("a plan is finished, which frees its body's memory, only once the recorder has a copy", () => {
  const { calls, context, exchange } = scene();
  context.activeExchanges.add(exchange);
  reportBeforePlanning(context);
  expect(calls).toEqual([]);
  recordRequestOnce(exchange);
  reportBeforePlanning(context);
  expect(calls).toEqual(["recordRequest", "finish"]);
});
